/**
 * Shows an agent to anything that speaks the web's `Request` and `Response`: Hono, Deno, Bun, workers.
 *
 * @module
 */
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { HttpServerRequest, HttpServerResponse } from './http/http-message.ts';
import { AgentHttpHandler } from './http/agent-http-handler.ts';
import { defaultLimits } from './limits/limits.ts';
import type { ServerOptions } from './server-options.ts';
import { type TextSink, SseStream } from './http/sse-stream.ts';

/** Makes a function that answers a `Request` with a `Response`. */
export function fetchHandler(
  agent: Agent,
  options: ServerOptions = {},
): (request: Request) => Promise<Response> {
  const httpFace = new AgentHttpHandler(agent, options);
  const { maxBodyBytes = defaultLimits.maxBodyBytes } = options;
  let preparing: Promise<void> | undefined;
  const keepAlive = heart(httpFace, options);
  return async (request) => {
    preparing ??= (agent.ready?.() ?? Promise.resolve()).then(() => {
      httpFace.isReady = true;
    });
    try {
      await preparing;
    } catch (cause) {
      // The next request tries again.
      preparing = undefined;
      const error = new A2AError('UNAVAILABLE', undefined, { cause });
      return toResponse(httpFace.reject(exchangeOf(request, ''), error), httpFace);
    }
    const exchange = exchangeOf(request, '');
    let admitted: HttpServerRequest;
    try {
      admitted = await httpFace.authenticate(exchange);
    } catch (thrown) {
      return toResponse(httpFace.reject(exchange, A2AError.from(thrown)), httpFace);
    }
    const body = await readBody(request, maxBodyBytes);
    if (body instanceof A2AError) return toResponse(httpFace.reject(admitted, body), httpFace);
    exchange.body = body;
    const reply = await httpFace.handle(admitted);
    if (reply.body instanceof SseStream) keepAlive();
    return toResponse(reply, httpFace);
  };
}

/** Makes what keeps streams alive while there are some: no timer holds a process or a worker that has none. */
function heart({ context: face }: AgentHttpHandler, { heartbeat = 15_000 }: ServerOptions): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const beat = (): void => {
    for (const stalled of face.sendHeartbeats(Date.now())) stalled.abort();
    if (face.openStreams > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return () => {
    timer ??= setInterval(beat, heartbeat > 0 ? heartbeat : 15_000);
  };
}

async function readBody(request: Request, maxBytes: number): Promise<string | A2AError> {
  if (!request.body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) {
      return new A2AError('PAYLOAD_TOO_LARGE', `A request may have ${maxBytes} bytes`, {
        details: { limit: 'maxBodyBytes' },
      });
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    return new A2AError('PARSE_ERROR', 'The body is not UTF-8', { cause });
  }
}

function exchangeOf(request: Request, body: string): HttpServerRequest & { body: string } {
  const url = new URL(request.url);
  const headers: Record<string, string> = { host: url.host };
  request.headers.forEach((value, name) => {
    headers[name] = value;
  });
  return {
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers,
    body,
    isSecure: url.protocol === 'https:',
    onDisconnect: (callback) => request.signal.addEventListener('abort', callback, { once: true }),
  };
}

function toResponse(
  { status, headers, body }: HttpServerResponse,
  { context: face }: AgentHttpHandler,
): Response {
  const named = new Headers();
  for (let at = 0; at < headers.length; at += 2) named.append(headers[at] ?? '', headers[at + 1] ?? '');
  if (!(body instanceof SseStream)) {
    return new Response(status === 204 || status === 304 ? null : (body ?? ''), { status, headers: named });
  }
  const stream = body;
  const encoder = new TextEncoder();
  let drained: (() => void) | undefined;
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      const sink: TextSink = {
        write(text) {
          controller.enqueue(encoder.encode(text));
          return (controller.desiredSize ?? 1) > 0;
        },
        once: (_event, callback) => {
          drained = callback;
        },
        end(last) {
          if (last !== undefined) controller.enqueue(encoder.encode(last));
          controller.close();
          face.streamEnded(stream);
        },
        destroy: () => controller.error(new A2AError('TIMEOUT', 'The reader does not read')),
      };
      stream.pipe(sink);
    },
    pull() {
      const callback = drained;
      drained = undefined;
      callback?.();
    },
    cancel() {
      stream.detach();
      face.streamEnded(stream);
    },
  });
  return new Response(readable, { status, headers: named });
}
