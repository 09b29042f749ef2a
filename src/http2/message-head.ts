/** Headers by lower-case name; several values of one name are joined, except those of `set-cookie`. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** Returns headers as names and values by turns. */
export function listFields(fields: HeaderFields): string[] {
  const list: string[] = [];
  for (const name in fields) for (const value of [fields[name] ?? []].flat()) list.push(name, value);
  return list;
}

/** The headers of a request or response. */
export interface MessageHead {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
  readonly authority: string | undefined;
  /** Status of a response; 0 for requests. */
  readonly status: number;
  /** Headers without pseudo-headers. Those of a request have its authority as `host`. */
  readonly fields: HeaderFields;
  /** Announced bytes of the body; -1 if they are not announced. */
  readonly contentLength: number;
}

/** Kinds of header blocks, which have different pseudo-headers. */
export type HeadKind = 'request' | 'response' | 'trailers';

const pseudoHeaders: { readonly [kind in HeadKind]: readonly string[] } = {
  request: [':method', ':scheme', ':path', ':authority'],
  response: [':status'],
  trailers: [],
};

/** Headers that HTTP/2 does not permit. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of which only the first value counts, as in Node. */
const singleValued: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'user-agent',
]);

const fieldName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Values have no control characters, and do not begin or end with white space (RFC 9113, section 8.2.1). */
// oxlint-disable-next-line no-control-regex
const forbiddenValue = /[\0\r\n]|^[\t ]|[\t ]$/;

/**
 * Checks a header list and groups it by name.
 *
 * @param list - names and values by turns.
 * @returns undefined if the message is malformed (RFC 9113, section 8.1.1).
 */
export function readHead(list: readonly string[], kind: HeadKind): MessageHead | undefined {
  const pseudo: Record<string, string> = {};
  const fields = { __proto__: null } as unknown as Record<string, string | string[] | undefined>;
  let hasFields = false;
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at] as string;
    const value = list[at + 1] as string;
    if (forbiddenValue.test(value)) return undefined;
    if (name.startsWith(':')) {
      if (hasFields || pseudo[name] !== undefined || !pseudoHeaders[kind].includes(name)) return undefined;
      pseudo[name] = value;
    } else {
      hasFields = true;
      if (!isPermitted(name, value)) return undefined;
      addField(fields, name, value);
    }
  }
  const head = {
    method: pseudo[':method'] ?? '',
    scheme: pseudo[':scheme'] ?? '',
    path: pseudo[':path'] ?? '',
    authority: pseudo[':authority'],
    status: readStatus(pseudo[':status']),
    fields,
    contentLength: readLength(fields['content-length']),
  };
  if (kind === 'request') {
    if (head.method === '' || head.scheme === '' || head.path === '') return undefined;
    if (head.authority !== undefined) fields.host = head.authority;
  } else if (kind === 'response' && head.status === 0) return undefined;
  return Number.isNaN(head.contentLength) ? undefined : head;
}

function isPermitted(name: string, value: string): boolean {
  if (name === 'te') return value === 'trailers';
  return !connectionHeaders.has(name) && fieldName.test(name);
}

function addField(fields: Record<string, string | string[] | undefined>, name: string, value: string): void {
  const known = fields[name];
  if (name === 'set-cookie') fields[name] = [known ?? [], value].flat();
  else if (known === undefined) fields[name] = value;
  else if (name === 'content-length' && known !== value) fields[name] = 'several';
  else if (!singleValued.has(name))
    fields[name] = `${String(known)}${name === 'cookie' ? '; ' : ', '}${value}`;
}

function readStatus(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d\d$/.test(text) ? Number(text) : 0;
}

function readLength(text: string | string[] | undefined): number {
  if (text === undefined) return -1;
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
