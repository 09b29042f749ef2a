import { formatCurlCommand } from '../primitives/formats/curl-command.ts';
import type { TrafficRecord } from './traffic-record.ts';

/** Headers that curl sets itself or that would make the response unreadable. */
const skippedHeaders = new Set([
  'host',
  'content-length',
  'connection',
  'accept-encoding',
  'transfer-encoding',
  'keep-alive',
]);

/**
 * Converts a recorded request to a curl command. Redacted values become shell variables.
 *
 * @returns undefined for records other than HTTP requests, and for gRPC, whose messages curl cannot write. An imported
 * file may contain any text as URL.
 */
export function toCurl({ kind, http, text, truncatedBy = 0, decoded }: TrafficRecord): string | undefined {
  if (kind !== 'request' || !http || decoded?.transport === 'GRPC' || !/^https?:\/\//i.test(http.url))
    return undefined;
  const headers = Object.fromEntries(
    Object.entries(http.headers).filter(([name]) => !skippedHeaders.has(name)),
  );
  const operation = decoded?.operation;
  return formatCurlCommand({
    method: http.method,
    url: http.url,
    headers,
    body: text,
    length: text.length + truncatedBy,
    isStream: operation === 'stream' || operation === 'subscribe' || headers.accept === 'text/event-stream',
  });
}
