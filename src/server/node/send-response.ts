import type { ServerResponse } from 'node:http';
import type { HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { defaultLimits } from '../limits/limits.ts';

/** Sends a complete response. The connection of a client that does not read it is closed after `stallTimeout`. */
export function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body, length, onSent }: HttpServerResponse,
  context?: Pick<ServerContext, 'stallTimeout'> & Partial<Pick<ServerContext, 'telemetry'>>,
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
  if (!outgoing.socket?.writableLength) return;
  closeWhenStalled(outgoing, stallTimeout, () => context?.telemetry?.metrics?.countLimitHit('stallTimeout'));
}

/** Closes the connection of a client that reads nothing of a response for `stallTimeout` milliseconds. 0 disables it. */
export function closeWhenStalled(
  outgoing: ServerResponse,
  stallTimeout: number,
  onStalled?: () => void,
): void {
  if (stallTimeout === 0) return;
  // Node restarts this timeout while the client reads.
  outgoing.setTimeout(stallTimeout, () => {
    if (outgoing.writableLength === 0) {
      // There is nothing to read yet.
      outgoing.setTimeout(stallTimeout);
      return;
    }
    onStalled?.();
    outgoing.destroy();
  });
}
