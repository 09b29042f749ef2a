import { redactedPlaceholder } from '../redaction/redaction.ts';

/** A request with redacted secrets, for printing. */
export interface PrintableRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Length of the body if `body` is truncated. */
  readonly length?: number | undefined;
  /** Disables buffering and limits the time, for event streams. */
  readonly isStream?: boolean;
  /** Sends bytes over HTTP/2 in place of `body`, as gRPC does: base64. */
  readonly http2Bytes?: string | undefined;
}

/** Maximum length of a body in a command. */
const maxBody = 65_536;

/** Formats a request as a curl command. Redacted headers become shell variables. */
export function formatCurlCommand(request: PrintableRequest): string {
  const { method, url, headers, body = '', length, isStream = false, http2Bytes } = request;
  const words = ['curl', '-sS', '-i'];
  if (http2Bytes !== undefined) words.push(url.startsWith('https:') ? '--http2' : '--http2-prior-knowledge');
  if (isStream) words.push('-N', '-m', '30');
  if (method !== 'GET') words.push('-X', /^\w+$/.test(method) ? method : shellQuote(method));
  words.push(shellQuote(url));
  for (const [name, value] of Object.entries(headers)) {
    if (value === '') continue;
    const variable = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
    // A header name may contain shell metacharacters.
    const header = /^[\w-]+$/.test(name)
      ? `"${name}: $${variable}"`
      : `${shellQuote(`${name}: `)}"$${variable}"`;
    words.push('-H', value === redactedPlaceholder ? header : shellQuote(`${name}: ${value}`));
  }
  if (http2Bytes !== undefined)
    return `echo ${shellQuote(http2Bytes)} | base64 -d | ${[...words, '--data-binary', '@-'].join(' ')}`;
  const fullLength = length ?? body.length;
  if (fullLength > maxBody || fullLength > body.length)
    words.push('--data-raw', shellQuote(`${redactedPlaceholder}: ${fullLength} characters`));
  else if (body !== '') words.push('--data-raw', shellQuote(body));
  return words.join(' ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
