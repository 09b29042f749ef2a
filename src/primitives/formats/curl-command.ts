import { redactedPlaceholder } from '../redaction.ts';

/** A request that somebody may want to make again; secrets are taken out. */
export interface PrintableRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** How many characters the body has, where that is more than is there. */
  readonly length?: number | undefined;
  /** Shows events as they come, and not for ever. */
  readonly isStream?: boolean;
}

/** How much of a body is fit for a line that people copy. */
const maxBody = 65_536;

/** A line for a shell that asks the same again. Secrets are named as variables of the shell. */
export function formatCurlCommand({
  method,
  url,
  headers,
  body = '',
  length,
  isStream = false,
}: PrintableRequest): string {
  const words = ['curl', '-sS', '-i'];
  if (isStream) words.push('-N', '-m', '30');
  if (method !== 'GET') words.push('-X', /^\w+$/.test(method) ? method : quoted(method));
  words.push(quoted(url));
  for (const [name, value] of Object.entries(headers)) {
    if (value === '') continue;
    const variable = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
    // A name may have letters that mean something to a shell.
    const known = /^[\w-]+$/.test(name) ? `"${name}: $${variable}"` : `${quoted(`${name}: `)}"$${variable}"`;
    words.push('-H', value === redactedPlaceholder ? known : quoted(`${name}: ${value}`));
  }
  const whole = length ?? body.length;
  if (whole > maxBody || whole > body.length)
    words.push('--data-raw', quoted(`${redactedPlaceholder}: ${whole} characters`));
  else if (body !== '') words.push('--data-raw', quoted(body));
  return words.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
