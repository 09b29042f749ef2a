import type { ServerResponse } from 'node:http';
import type { HttpServerResponse } from '../http/http-message.ts';

/** Sends a complete response. */
export function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body, length }: HttpServerResponse,
): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  const text = (body as string | undefined) ?? '';
  // The length is sent before the text; 204 and 304 have none.
  if (status === 204 || status === 304) outgoing.writeHead(status, headers);
  else outgoing.writeHead(status, [...headers, 'Content-Length', String(length ?? Buffer.byteLength(text))]);
  outgoing.end(text);
}
