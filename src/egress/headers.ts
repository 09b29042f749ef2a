import type { IncomingHttpHeaders } from 'node:http';

/** Headers by their lower-case names. */
export type HeaderMap = Readonly<Record<string, string>>;

/** What the connection says itself. Somebody else's word on it would let requests be smuggled. */
const ofConnection = new Set([
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

/** What may be said to anybody. Of all others nobody knows which is a secret. */
const harmless = new Set([
  'a2a-extensions',
  'a2a-version',
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** The headers of a request as they are sent. */
export function outgoingHeaders(given: HeaderMap = {}): HeaderMap {
  const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...Object.fromEntries(named.filter(([name]) => !ofConnection.has(name))),
    // What is not packed cannot burst.
    'accept-encoding': 'identity',
  };
}

/** The headers that go along to another origin: credentials and tokens do not, under whatever name. */
export function crossOriginHeaders(headers: HeaderMap): HeaderMap {
  return outgoingHeaders(Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name))));
}

/** The headers of an answer; those that came several times are joined. */
export function incomingHeaders(headers: IncomingHttpHeaders): HeaderMap {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}
