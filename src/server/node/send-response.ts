import type { ServerResponse } from 'node:http';
import type { HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { defaultLimits } from '../limits/limits.ts';

/** Sends a complete response. The connection of a client that does not read it is closed after `stallTimeout`. */
export function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body, length, onSent }: HttpServerResponse,
  context?: Pick<ServerContext, 'stallTimeout' | 'telemetry'>,
): void {
  if (outgoing.destroyed || outgoing.headersSent) {
    onSent?.();
    return;
  }
  const text = (body as string | undefined) ?? '';
  if (onSent) outgoing.once('close', onSent);
  // The length is sent before the text; 204 and 304 have none.
  if (status === 204 || status === 304) outgoing.writeHead(status, headers);
  else outgoing.writeHead(status, [...headers, 'Content-Length', String(length ?? Buffer.byteLength(text))]);
  outgoing.end(text);
  const { stallTimeout = defaultLimits.stallTimeout } = context ?? {};
  if (stallTimeout === 0 || !outgoing.socket?.writableLength) return;
  // Node restarts this timeout while the client reads.
  outgoing.setTimeout(stallTimeout, () => {
    context?.telemetry?.metrics?.countLimitHit('stallTimeout');
    outgoing.destroy();
  });
}
