import type { RequestHeaders } from '../http/http-message.ts';

/** Head of a request that qualifies for the fast path: unambiguous and without special connection handling. */
export interface RequestHead {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Offset of the body. */
  readonly bodyAt: number;
  /** Offset of the end of the request, which may be beyond the received bytes. */
  readonly end: number;
}

/** Size limits of the fast path. */
export interface RequestHeadLimits {
  readonly headerBytes: number;
  readonly headers: number;
  readonly bodyBytes: number;
}

const blankLine = Buffer.from('\r\n\r\n');

/** Excludes everything that parsers may interpret differently: other whitespace, line ends, folded lines, unusual names. */
const headPattern = /^(?:GET|POST|DELETE) \/[\x21-\x7e]* HTTP\/1\.1(?:\r\n[A-Za-z0-9-]+:[\x20-\x7e]*)+$/;

/** Headers that need special handling; Node treats `Proxy-Connection` like `Connection`. */
const specialHeaders = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer', 'proxy-connection']);

const lengthPattern = /^\d{1,10}$/;

/** Number of heads that are cached, and their maximum size in bytes. */
const cachedHeads = 32;
const maxCachedHeadBytes = 2_048;

interface CachedHead {
  readonly text: string;
  readonly head: RequestHead;
}

/**
 * Parses heads of requests strictly. Clients with persistent connections repeat their heads byte for byte, so recent
 * heads are cached.
 */
export class RequestHeadParser {
  readonly #limits: RequestHeadLimits;
  /** Recent heads; the index is the length of the text modulo the size. */
  readonly #cache: (CachedHead | undefined)[] = Array.from({ length: cachedHeads }, () => undefined);

  constructor(limits: RequestHeadLimits) {
    this.#limits = limits;
  }

  /** @returns undefined if the request does not qualify for the fast path or is incomplete. */
  parse(bytes: Buffer): RequestHead | undefined {
    const headEnd = bytes.indexOf(blankLine);
    if (headEnd < 0 || headEnd > this.#limits.headerBytes) return undefined;
    const text = bytes.toString('latin1', 0, headEnd);
    const slot = headEnd % cachedHeads;
    const cached = this.#cache[slot];
    if (cached?.text === text) return cached.head;
    const head = parseHead(text, this.#limits);
    if (head && headEnd <= maxCachedHeadBytes) this.#cache[slot] = { text, head };
    return head;
  }
}

function parseHead(text: string, limits: RequestHeadLimits): RequestHead | undefined {
  if (!headPattern.test(text)) return undefined;
  const methodEnd = text.indexOf(' ');
  const targetEnd = text.indexOf(' ', methodEnd + 1);
  const headers = parseHeaders(text, limits.headers);
  if (!headers || headers.host === undefined || !isKeepAlive(headers.connection)) return undefined;
  const method = text.slice(0, methodEnd);
  const length = parseLength(method, headers['content-length']);
  if (length === undefined || length > limits.bodyBytes) return undefined;
  const bodyAt = text.length + blankLine.length;
  return { method, target: text.slice(methodEnd + 1, targetEnd), headers, bodyAt, end: bodyAt + length };
}

/** Parses the headers; returns undefined for duplicates and special headers. */
function parseHeaders(text: string, maxHeaders: number): Readonly<Record<string, string>> | undefined {
  const headers: Record<string, string> = {};
  let count = 0;
  let lineEnd = text.indexOf('\r\n');
  while (lineEnd >= 0) {
    if (++count > maxHeaders) return undefined;
    const from = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', from);
    const colon = text.indexOf(':', from);
    const name = text.slice(from, colon).toLowerCase();
    // Names of `Object.prototype` members count as duplicates.
    if (headers[name] !== undefined || specialHeaders.has(name)) return undefined;
    headers[name] = text.slice(colon + 1, lineEnd < 0 ? undefined : lineEnd).trim();
  }
  return Object.freeze(headers);
}

function isKeepAlive(connection: string | undefined): boolean {
  return connection === undefined || connection.toLowerCase() === 'keep-alive';
}

/** Returns the length of the body; undefined if it is missing or malformed. */
function parseLength(method: string, header: string | undefined): number | undefined {
  if (header === undefined) return method === 'POST' ? undefined : 0;
  if (!lengthPattern.test(header)) return undefined;
  const length = Number(header);
  return method === 'POST' || length === 0 ? length : undefined;
}
