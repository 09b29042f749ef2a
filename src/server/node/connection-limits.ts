import type { IncomingMessage, Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import { A2AError } from '../../protocol/errors.ts';
import { defaultLimits, type ServerLimits } from '../limits/limits.ts';

/** Returns the options of the Node server that limit slow clients and large headers. */
export function nodeServerOptions(limits: ServerLimits): HttpOptions {
  const { headersTimeout, requestTimeout, keepAliveTimeout, headerBytes } = { ...defaultLimits, ...limits };
  const minTimeout = Math.min(...[headersTimeout, requestTimeout].filter((each) => each > 0), 20_000);
  return {
    maxHeaderSize: headerBytes,
    // Node requires headersTimeout <= requestTimeout.
    headersTimeout: requestTimeout > 0 ? Math.min(headersTimeout, requestTimeout) : headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    // Node checks its timeouts at this interval; the default of 30 s would extend them by up to 30 s.
    connectionsCheckingInterval: Math.max(50, minTimeout / 4),
  };
}

/**
 * Lets Node accept any number of headers, which their size bounds: versions of Node drop those above a limit silently, or
 * end the connection without a reason. The requests are counted and rejected by {@link headerCountError}.
 */
export function acceptAnyHeaderCount(server: Server | SecureServer): void {
  server.maxHeadersCount = 0;
}

/** Returns an error if a request has too many headers. */
export function headerCountError(
  { rawHeaders }: IncomingMessage,
  { headers = defaultLimits.headers }: ServerLimits,
): A2AError | undefined {
  if (rawHeaders.length <= headers * 2) return undefined;
  return new A2AError('PAYLOAD_TOO_LARGE', `Request has more than ${headers} headers`, {
    details: { limit: 'headers' },
  });
}

/** Adds metrics of received and sent bytes, which Node counts per connection. */
export function observeConnectionBytes(server: Server | SecureServer, { registry }: Metrics): void {
  const connections = new Set<Socket>();
  const closed = { received: 0, sent: 0 };
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      closed.received += socket.bytesRead;
      closed.sent += socket.bytesWritten;
    });
  });
  registry.observed(metricNames.received, 'counter', () => {
    let sum = closed.received;
    for (const { bytesRead } of connections) sum += bytesRead;
    return sum;
  });
  registry.observed(metricNames.sent, 'counter', () => {
    let sum = closed.sent;
    for (const { bytesWritten } of connections) sum += bytesWritten;
    return sum;
  });
}

/** Returns the status line of a client error and the exceeded limit. */
export function clientErrorResponse(code: string | undefined): { status: string; limit?: string } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: '431 Request Header Fields Too Large', limit: 'headerBytes' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: '408 Request Timeout', limit: 'requestTimeout' };
  return { status: '400 Bad Request' };
}
