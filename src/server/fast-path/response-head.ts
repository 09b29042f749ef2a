import { STATUS_CODES } from 'node:http';

let dateSecond = -1;
let dateLine = '';

/** The header that says when an answer was made, written once a second. */
function dateAt(now: number): string {
  const second = Math.floor(now / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(now).toUTCString()}\r\n`;
  }
  return dateLine;
}

/** What would end a header early, or cannot be written. */
const illegal = /[^\t\x20-\x7e\x80-\xff]/g;

/**
 * The head of a response, but for its last lines.
 *
 * @param headers - name, value, name, value.
 * @param keeping - the lines that say what becomes of the connection.
 */
export function formatResponseHead(
  status: number,
  headers: readonly string[],
  keeping: string,
  now: number,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
  for (let at = 0; at < headers.length; at += 2)
    text += `${headers[at]}: ${(headers[at + 1] ?? '').replace(illegal, '?')}\r\n`;
  return text + dateAt(now) + keeping;
}
