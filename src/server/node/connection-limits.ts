import type { IncomingMessage, Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import { A2AError } from '../../protocol/errors.ts';
import { defaultLimits, type ServerLimits } from '../limits/limits.ts';

/** The options of Node's server that keep slow and talkative callers within bounds. */
export function nodeServerOptions(limits: ServerLimits): HttpOptions {
  const { headersTimeout, requestTimeout, keepAliveTimeout, headerBytes } = { ...defaultLimits, ...limits };
  const shortest = Math.min(...[headersTimeout, requestTimeout].filter((each) => each > 0), 20_000);
  return {
    maxHeaderSize: headerBytes,
    // Node wants the part to be no longer than the whole.
    headersTimeout: requestTimeout > 0 ? Math.min(headersTimeout, requestTimeout) : headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    // Node looks at intervals only; half a minute, its own choice, would let a slow caller stay for that much longer.
    connectionsCheckingInterval: Math.max(50, shortest / 4),
  };
}

/** Lets Node take one header more than is allowed, so that it is seen and not silently dropped. */
export function setMaxHeaderCount(
  server: Server | SecureServer,
  { headers = defaultLimits.headers }: ServerLimits,
): void {
  server.maxHeadersCount = Number.isFinite(headers) ? headers + 1 : 0;
}

/** The error for a request with too many headers. @returns undefined when there are not. */
export function headerCountError(
  { rawHeaders }: IncomingMessage,
  { headers = defaultLimits.headers }: ServerLimits,
): A2AError | undefined {
  if (rawHeaders.length <= headers * 2) return undefined;
  return new A2AError('PAYLOAD_TOO_LARGE', `A request may have ${headers} headers`, {
    details: { limit: 'headers' },
  });
}

/** Counts the bytes of all connections when somebody reads them; Node has the numbers anyway. */
export function observeConnectionBytes(server: Server | SecureServer, { registry }: Metrics): void {
  const open = new Set<Socket>();
  const before = { received: 0, sent: 0 };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      before.received += socket.bytesRead;
      before.sent += socket.bytesWritten;
    });
  });
  registry.observed(metricNames.received, 'counter', () => {
    let sum = before.received;
    for (const { bytesRead } of open) sum += bytesRead;
    return sum;
  });
  registry.observed(metricNames.sent, 'counter', () => {
    let sum = before.sent;
    for (const { bytesWritten } of open) sum += bytesWritten;
    return sum;
  });
}

/** What a connection that is not as it should be is told, and which limit it reached. */
export function clientErrorResponse(code: string | undefined): { status: string; limit?: string } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: '431 Request Header Fields Too Large', limit: 'headerBytes' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: '408 Request Timeout', limit: 'requestTimeout' };
  return { status: '400 Bad Request' };
}
