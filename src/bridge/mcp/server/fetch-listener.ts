import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { LogSink } from '../../../primitives/log.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { HttpServerRequest, HttpServerResponse } from '../../../server/http/http-message.ts';
import type { ExchangeLimits } from '../../../server/node/exchange-limits.ts';
import { rejectUnread } from '../../../server/node/request-body.ts';

interface FetchListenerOptions {
  readonly limits: ExchangeLimits;
  /** Authenticates a request before its body is read. @throws A2AError */
  readonly check: (request: HttpServerRequest, incoming: IncomingMessage) => void;
  readonly toErrorResponse: (error: A2AError) => HttpServerResponse;
  readonly log: LogSink | undefined;
}

/** Handles a web request; `body` is its text. */
type FetchHandler = (request: Request, body: string) => Promise<Response>;

/** Converts a fetch handler to a `node:http` listener. A disconnect of the client aborts the request. */
export function fetchListener(handler: FetchHandler, options: FetchListenerOptions): RequestListener {
  const { limits, check, toErrorResponse, log } = options;
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const disconnected = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) disconnected.abort();
    });
    const serverRequest = limits.admit(incoming, outgoing);
    check(serverRequest, incoming);
    const body = await limits.readBody(serverRequest, incoming, outgoing);
    const response = await handler(toWebRequest(incoming, body, disconnected.signal), body);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // Clients wait for the head of a stream, which may have no events yet.
    outgoing.flushHeaders();
    const output = limits.openOutput(serverRequest, outgoing);
    const reader = response.body?.getReader();
    outgoing.on('close', () => void reader?.cancel().catch(() => {}));
    // The library does not wait for slow clients, so its output is read at once and counted.
    for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read())
      output.write(chunk.value);
    output.end();
  }
  return (incoming, outgoing) => {
    handle(incoming, outgoing).catch((thrown: unknown) => {
      if (outgoing.destroyed) return;
      const error = A2AError.from(thrown);
      if (error.reason === 'INTERNAL_ERROR')
        log?.({ level: 'error', message: 'MCP over HTTP', error: error.cause ?? thrown });
      if (outgoing.headersSent) outgoing.end();
      else rejectUnread(toErrorResponse(error), incoming, outgoing, limits.maxBodyBytes);
    });
  };
}

function toWebRequest(incoming: IncomingMessage, body: string, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = '/' } = incoming;
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: entries,
    signal,
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
  });
}
