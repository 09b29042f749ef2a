import type { IncomingHttpHeaders } from 'node:http';

/** Headers by lower-case name. */
export type HeaderMap = Readonly<Record<string, string>>;

/** Headers of the connection. Values from callers would allow request smuggling. */
const connectionHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that may be sent to other origins. All others may contain secrets. */
const crossOriginSafe = new Set([
  'a2a-extensions',
  'a2a-version',
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** Returns the headers to send, without connection headers. */
export function outgoingHeaders(headers: HeaderMap = {}): HeaderMap {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...Object.fromEntries(entries.filter(([name]) => !connectionHeaders.has(name))),
    // Prevents decompression bombs.
    'accept-encoding': 'identity',
  };
}

/** Returns the headers that may follow a redirect to another origin: no credentials. */
export function crossOriginHeaders(headers: HeaderMap): HeaderMap {
  return outgoingHeaders(
    Object.fromEntries(Object.entries(headers).filter(([name]) => crossOriginSafe.has(name))),
  );
}

/** Returns response headers with repeated ones joined. */
export function incomingHeaders(headers: IncomingHttpHeaders): HeaderMap {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}
