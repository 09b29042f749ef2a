/**
 * Serves an agent in runtimes and frameworks with the Fetch API (`Request`, `Response`): Hono, Next.js, Deno, Bun, workers.
 *
 * @module
 */
import { whileAlive } from '../primitives/clock.ts';
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { HttpServerRequest, HttpServerResponse } from './http/http-message.ts';
import type { AgentHttpHandler } from './http/agent-http-handler.ts';
import { startStreamHeartbeat } from './lifecycle/heartbeats.ts';
import { type MountedAgent, AgentLifecycle } from './lifecycle/agent-lifecycle.ts';
import { defaultLimits } from './limits/limits.ts';
import type { ServerOptions } from './server-options.ts';
import { type TextSink, SseStream } from './http/sse-stream.ts';

export type { MountedAgent } from './lifecycle/agent-lifecycle.ts';

/** Handles the requests of a runtime or framework with the Fetch API. */
export interface FetchHandler extends MountedAgent {
  /** @param context - further arguments of the runtime. Those of Bun and Deno contain the address of the client. */
  (request: Request, ...context: unknown[]): Promise<Response>;
}

/**
 * Mounts an agent in Hono, Next.js, Deno, Bun, Cloudflare Workers or any other runtime with the Fetch API. The first
 * request, or the first access to `ready`, starts the recovery of unfinished tasks; requests wait for it.
 *
 * @example
 * ```ts
 * export default { fetch: toFetchHandler(agent) };
 * ```
 */
export function toFetchHandler(agent: Agent, options: ServerOptions = {}): FetchHandler {
  const lifecycle = new AgentLifecycle(agent, options);
  const { handler } = lifecycle;
  const { maxBodyBytes = defaultLimits.maxBodyBytes, heartbeat } = options;
  handler.context.hasSharedHeartbeat = false;
  return lifecycle.mount(async (request: Request, ...runtime: unknown[]) => {
    // After a failure, `admit` rejects the request.
    if (!handler.isReady) await lifecycle.prepareInBackground();
    const serverRequest = toServerRequest(request, runtime);
    const refusal = handler.admit(serverRequest);
    if (refusal) return toResponse(handler.reject(serverRequest, refusal));
    let authenticated: HttpServerRequest;
    try {
      authenticated = await handler.authenticate(serverRequest);
    } catch (thrown) {
      return toResponse(handler.reject(serverRequest, A2AError.from(thrown)));
    }
    const body = await readBody(request, maxBodyBytes);
    if (body instanceof A2AError) return toResponse(handler.reject(authenticated, body));
    serverRequest.body = body;
    const handling = handler.handle(authenticated);
    const response = handling instanceof Promise ? await whileAlive(handling) : handling;
    return response.body instanceof SseStream
      ? toStreamResponse(response, response.body, handler, heartbeat)
      : toResponse(response);
  });
}

async function readBody(request: Request, maxBytes: number): Promise<string | A2AError> {
  if (!request.body) return '';
  if (request.bodyUsed)
    return new A2AError(
      'INTERNAL_ERROR',
      'The request body was read before it reached the agent. Pass the request on unread, or a `clone()` of it',
    );
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

/** Further arguments of `fetch` handlers: information about the request in Deno, the server in Bun, a context in workers. */
interface RuntimeContext {
  readonly remoteAddr?: { readonly hostname?: string };
  requestIP?(request: Request): { readonly address: string } | null;
  waitUntil?(pending: Promise<unknown>): void;
}

function remoteAddressOf(request: Request, [runtime]: readonly unknown[]): string | undefined {
  const context = (runtime ?? {}) as RuntimeContext;
  return typeof context.requestIP === 'function'
    ? context.requestIP(request)?.address
    : context.remoteAddr?.hostname;
}

/** Workers pass their context after their bindings. */
function waitUntilOf([, worker]: readonly unknown[]): HttpServerRequest['waitUntil'] {
  const context = (worker ?? {}) as RuntimeContext;
  return typeof context.waitUntil === 'function' ? (pending) => context.waitUntil?.(pending) : undefined;
}

function toServerRequest(
  request: Request,
  runtime: readonly unknown[],
): HttpServerRequest & { body: string } {
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
    body: '',
    isSecure: url.protocol === 'https:',
    remoteAddress: remoteAddressOf(request, runtime),
    waitUntil: waitUntilOf(runtime),
    onDisconnect: (callback) => request.signal.addEventListener('abort', callback, { once: true }),
  };
}

function toResponse({ status, headers, body, onSent }: HttpServerResponse): Response {
  // The runtime buffers the response.
  onSent?.();
  const hasNoBody = status === 204 || status === 304;
  return new Response(hasNoBody ? null : ((body as string | undefined) ?? ''), {
    status,
    headers: toHeaders(headers),
  });
}

function toHeaders(flat: readonly string[]): Headers {
  const headers = new Headers();
  for (let offset = 0; offset < flat.length; offset += 2)
    headers.append(flat[offset] ?? '', flat[offset + 1] ?? '');
  return headers;
}

/** Number of unread characters above which no further events are read from the task (backpressure). */
const maxUnread = 16 * 1_024;

/**
 * Returns the response with a stream. The runtime pulls the text, so that a task that runs in another request never
 * writes to this response itself; Cloudflare does not allow that.
 */
function toStreamResponse(
  { status, headers }: HttpServerResponse,
  stream: SseStream,
  { context }: AgentHttpHandler,
  heartbeat: number | undefined,
): Response {
  const encoder = new TextEncoder();
  let unread = '';
  let end: 'none' | 'complete' | 'aborted' = 'none';
  let wake: (() => void) | undefined;
  let drained: (() => void) | undefined;
  let abort: () => void;
  const stopHeartbeat = startStreamHeartbeat(context, stream, heartbeat);
  const finish = (how: typeof end): void => {
    end = how;
    stopHeartbeat();
    context.streamEnded(stream);
    wake?.();
  };
  const sink: TextSink = {
    write(text) {
      unread += text;
      wake?.();
      return unread.length <= maxUnread;
    },
    once: (_event, callback) => {
      drained = callback;
    },
    end(last = '') {
      unread += last;
      finish('complete');
    },
    destroy() {
      finish('aborted');
      abort();
    },
  };
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      abort = () => controller.error(new A2AError('TIMEOUT', 'The client does not read the stream'));
      stream.pipe(sink);
    },
    async pull(controller) {
      if (unread === '' && end === 'none')
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      wake = undefined;
      if (end === 'aborted') return;
      if (unread !== '') controller.enqueue(encoder.encode(unread));
      unread = '';
      if (end === 'complete') controller.close();
      const callback = drained;
      drained = undefined;
      callback?.();
    },
    cancel() {
      stream.detach();
      finish('aborted');
    },
  });
  return new Response(readable, { status, headers: toHeaders(headers) });
}
