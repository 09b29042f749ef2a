import { STATUS_CODES } from 'node:http';

let dateSecond = -1;
let dateLine = '';

/** Returns the `Date` header, formatted once per second. */
function formatDate(now: number): string {
  const second = Math.floor(now / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(now).toUTCString()}\r\n`;
  }
  return dateLine;
}

/** Characters that are not allowed in header values, such as line ends. */
const illegal = /[^\t\x20-\x7e\x80-\xff]/g;

/**
 * Formats the head of a response without its length or encoding header.
 *
 * @param headers - flat list of names and values.
 * @param keeping - connection header lines.
 */
export function formatResponseHead(
  status: number,
  headers: readonly string[],
  connectionHeaders: string,
  now: number,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${(headers[index + 1] ?? '').replace(illegal, '?')}\r\n`;
  return text + formatDate(now) + connectionHeaders;
}
