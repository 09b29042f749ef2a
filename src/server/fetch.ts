/**
 * Serves an agent in runtimes and frameworks with the Fetch API (`Request`, `Response`): Hono, Deno, Bun, workers.
 *
 * @module
 */
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { HttpServerRequest, HttpServerResponse } from './http/http-message.ts';
import { AgentHttpHandler } from './http/agent-http-handler.ts';
import { HeartbeatSchedule } from './limits/heartbeat-schedule.ts';
import { defaultLimits } from './limits/limits.ts';
import type { ServerOptions } from './server-options.ts';
import { type TextSink, SseStream } from './http/sse-stream.ts';

/** Creates a function that handles a `Request` and returns a `Response`. */
export function fetchHandler(
  agent: Agent,
  options: ServerOptions = {},
): (request: Request) => Promise<Response> {
  const handler = new AgentHttpHandler(agent, options);
  const { maxBodyBytes = defaultLimits.maxBodyBytes } = options;
  let preparing: Promise<void> | undefined;
  const startHeartbeat = createHeartbeat(handler, options);
  return async (request) => {
    preparing ??= (agent.ready?.() ?? Promise.resolve()).then(() => {
      handler.isReady = true;
    });
    try {
      await preparing;
    } catch (cause) {
      // The next request tries again.
      preparing = undefined;
      const error = new A2AError('UNAVAILABLE', undefined, { cause });
      return toResponse(handler.reject(toServerRequest(request, ''), error), handler);
    }
    const serverRequest = toServerRequest(request, '');
    const refusal = handler.admit(serverRequest);
    if (refusal) return toResponse(handler.reject(serverRequest, refusal), handler);
    let authenticated: HttpServerRequest;
    try {
      authenticated = await handler.authenticate(serverRequest);
    } catch (thrown) {
      return toResponse(handler.reject(serverRequest, A2AError.from(thrown)), handler);
    }
    const body = await readBody(request, maxBodyBytes);
    if (body instanceof A2AError) return toResponse(handler.reject(authenticated, body), handler);
    serverRequest.body = body;
    const response = await handler.handle(authenticated);
    if (response.body instanceof SseStream) startHeartbeat();
    return toResponse(response, handler);
  };
}

/** Returns a function that starts the SSE heartbeat timer. It runs only while streams are open, so that an idle process can exit. */
function createHeartbeat(
  { context }: AgentHttpHandler,
  { heartbeat = defaultLimits.heartbeat }: ServerOptions,
): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const schedule = new HeartbeatSchedule(heartbeat);
  const tick = (): void => {
    schedule.send([context]);
    if (context.openStreams > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return () => {
    timer ??= setInterval(tick, schedule.tick);
  };
}

async function readBody(request: Request, maxBytes: number): Promise<string | A2AError> {
  if (!request.body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) {
      return new A2AError('PAYLOAD_TOO_LARGE', `Request body exceeds ${maxBytes} bytes`, {
        details: { limit: 'maxBodyBytes' },
      });
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    return new A2AError('PARSE_ERROR', 'The body must be UTF-8', { cause });
  }
}

function toServerRequest(request: Request, body: string): HttpServerRequest & { body: string } {
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
  { status, headers, body, onSent }: HttpServerResponse,
  { context }: AgentHttpHandler,
): Response {
  const responseHeaders = new Headers();
  for (let offset = 0; offset < headers.length; offset += 2)
    responseHeaders.append(headers[offset] ?? '', headers[offset + 1] ?? '');
  if (!(body instanceof SseStream)) {
    // The runtime buffers the response.
    onSent?.();
    return new Response(status === 204 || status === 304 ? null : (body ?? ''), {
      status,
      headers: responseHeaders,
    });
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
          context.streamEnded(stream);
        },
        destroy: () => controller.error(new A2AError('TIMEOUT', 'The client does not read the stream')),
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
      context.streamEnded(stream);
    },
  });
  return new Response(readable, { status, headers: responseHeaders });
}
