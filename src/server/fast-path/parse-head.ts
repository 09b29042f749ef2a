import type { RequestHeaders } from '../http/http-message.ts';

/** The head of a request that is plain: it can be read in one way only, and nothing is to be done but to answer it. */
export interface RequestHead {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Where its body begins. */
  readonly bodyAt: number;
  /** Where the request ends, which may be beyond what is there. */
  readonly end: number;
}

/** How large a plain request may be. */
export interface RequestHeadLimits {
  readonly headerBytes: number;
  readonly headers: number;
  readonly bodyBytes: number;
}

const blankLine = Buffer.from('\r\n\r\n');

/** Whatever a reader could take in two ways is left out: other blanks, other line ends, folded lines, odd names. */
const plainForm = /^(?:GET|POST|DELETE) \/[\x21-\x7e]* HTTP\/1\.1(?:\r\n[A-Za-z0-9-]+:[\x20-\x7e]*)+$/;

/** Headers that ask for more than an answer, and one that Node reads as `Connection`. */
const demanding = new Set(['transfer-encoding', 'upgrade', 'expect', 'trailer', 'proxy-connection']);

const lengthForm = /^\d{1,10}$/;

/**
 * Reads the head of a request strictly.
 *
 * @returns undefined for everything that is not plain, or not all there.
 */
export function parseRequestHead(bytes: Buffer, limits: RequestHeadLimits): RequestHead | undefined {
  const headEnd = bytes.indexOf(blankLine);
  if (headEnd < 0 || headEnd > limits.headerBytes) return undefined;
  const text = bytes.toString('latin1', 0, headEnd);
  if (!plainForm.test(text)) return undefined;
  const methodEnd = text.indexOf(' ');
  const targetEnd = text.indexOf(' ', methodEnd + 1);
  const headers = readHeaders(text, limits.headers);
  if (!headers || headers.host === undefined || !isKept(headers.connection)) return undefined;
  const method = text.slice(0, methodEnd);
  const length = lengthOf(method, headers['content-length']);
  if (length === undefined || length > limits.bodyBytes) return undefined;
  const bodyAt = headEnd + blankLine.length;
  return { method, target: text.slice(methodEnd + 1, targetEnd), headers, bodyAt, end: bodyAt + length };
}

/** The headers of a head in plain form; undefined where one is there twice or asks for more. */
function readHeaders(text: string, most: number): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  let count = 0;
  let lineEnd = text.indexOf('\r\n');
  while (lineEnd >= 0) {
    if (++count > most) return undefined;
    const from = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', from);
    const colon = text.indexOf(':', from);
    const name = text.slice(from, colon).toLowerCase();
    // What every object has counts as there.
    if (headers[name] !== undefined || demanding.has(name)) return undefined;
    headers[name] = text.slice(colon + 1, lineEnd < 0 ? undefined : lineEnd).trim();
  }
  return headers;
}

function isKept(connection: string | undefined): boolean {
  return connection === undefined || connection.toLowerCase() === 'keep-alive';
}

/** How many bytes the body has; undefined where that is not said as it should be. */
function lengthOf(method: string, said: string | undefined): number | undefined {
  if (said === undefined) return method === 'POST' ? undefined : 0;
  if (!lengthForm.test(said)) return undefined;
  const length = Number(said);
  return method === 'POST' || length === 0 ? length : undefined;
}
