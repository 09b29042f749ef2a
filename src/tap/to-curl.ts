import { formatCurlCommand } from '../primitives/formats/curl-command.ts';
import type { TrafficRecord } from './traffic-record.ts';

/** What curl writes itself, and what would make its answer unreadable. */
const left = new Set([
  'host',
  'content-length',
  'connection',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
]);

/**
 * A line for a shell that asks the same again. Secrets are named as variables of the shell.
 *
 * @returns undefined for anything but a request over HTTP; a file that was imported may call anything an address.
 */
export function toCurl({
  kind,
  http,
  text,
  truncatedBy: cut = 0,
  decoded: meaning,
}: TrafficRecord): string | undefined {
  if (kind !== 'request' || !http || !/^https?:\/\//i.test(http.url)) return undefined;
  const headers = Object.fromEntries(Object.entries(http.headers).filter(([name]) => !left.has(name)));
  const { operation } = meaning ?? {};
  return formatCurlCommand({
    method: http.method,
    url: http.url,
    headers,
    body: text,
    length: text.length + cut,
    isStream: operation === 'stream' || operation === 'subscribe' || headers.accept === 'text/event-stream',
  });
}
