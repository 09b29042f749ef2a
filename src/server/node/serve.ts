import { isUtf8 } from 'node:buffer';
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { openTracing } from '../../tracing/tracing.ts';
import { headerCountError } from './connection-limits.ts';
import type { HttpServerRequest, RequestHeaders, HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { defaultLimits } from '../limits/limits.ts';
import { listen, type ServeOptions, type RunningServer } from './listen.ts';
import type { ServerOptions } from '../server-options.ts';
import { SseStream } from '../http/sse-stream.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

export type { ServeOptions, RunningServer } from './listen.ts';

/** Serves an agent over HTTP: all transports and versions on one port. */
export async function serve(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  // Fails at once if tracing is requested but not available.
  await openTracing(options.tracing);
  const handler = new AgentHttpHandler(agent, options);
  const { context } = handler;
  const listener = nodeListener(handler, options);
  const server = await listen(
    { listener, contexts: () => [context], metrics: context.telemetry?.metrics, handlerFor: () => handler },
    options,
  );
  try {
    await agent.ready?.();
  } catch (error) {
    await server.stop(0);
    throw error;
  }
  handler.isReady = true;
  return server;
}

/** Creates a request listener for `node:http`. It does not use the Fetch API. */
export function nodeListener(
  handler: AgentHttpHandler,
  options: ServerOptions = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { maxBodyBytes = defaultLimits.maxBodyBytes, limits = {} } = options;
  return (incoming, outgoing) => {
    if (!outgoing.socket) closeWithConnection(incoming, outgoing);
    const tooMany = headerCountError(incoming, limits);
    if (tooMany) {
      const response = handler.reject(new NodeServerRequest(incoming, outgoing, ''), tooMany);
      rejectBody({ ...response, status: 431 }, incoming, outgoing, maxBodyBytes);
      return;
    }
    if (incoming.method === 'GET' || incoming.method === 'HEAD') {
      const request = new NodeServerRequest(incoming, outgoing, '');
      handle(handler, request, request, outgoing);
      return;
    }
    if (handler.requiresAuthentication) {
      void authenticateAndRead(handler, incoming, outgoing, maxBodyBytes);
      return;
    }
    readBodyText(incoming, maxBodyBytes, (body) => {
      const request = new NodeServerRequest(incoming, outgoing, typeof body === 'string' ? body : '');
      if (typeof body === 'string') handle(handler, request, request, outgoing);
      else rejectBody(handler.reject(request, body), incoming, outgoing, maxBodyBytes);
    });
  };
}

/** Emits `close` on a pipelined response when its connection closes: Node does so only for the first one. */
function closeWithConnection({ socket }: IncomingMessage, outgoing: ServerResponse): void {
  const close = (): void => {
    if (outgoing.socket) return;
    outgoing.destroy();
    outgoing.emit('close');
  };
  // The number of pipelined responses is not limited.
  socket.setMaxListeners(0).once('close', close);
  outgoing.once('close', () => socket.off('close', close));
}

/** Maximum `Content-Length` of a rejected body for which the connection is kept. */
const maxKeptBody = 64 * 1_024;

/** Reads the body only after authentication. */
async function authenticateAndRead(
  handler: AgentHttpHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBodyBytes: number,
): Promise<void> {
  const request = new NodeServerRequest(incoming, outgoing, '');
  let authenticated: HttpServerRequest;
  try {
    const authentication = handler.authenticate(request);
    authenticated = authentication instanceof Promise ? await authentication : authentication;
  } catch (thrown) {
    const response = handler.reject(request, A2AError.from(thrown));
    // Node discards the rest of the body itself.
    if (Number(incoming.headers['content-length']) <= maxKeptBody) send(outgoing, response);
    else rejectBody(response, incoming, outgoing, maxBodyBytes);
    return;
  }
  readBodyText(incoming, maxBodyBytes, (body) => {
    if (typeof body !== 'string') {
      rejectBody(handler.reject(authenticated, body), incoming, outgoing, maxBodyBytes);
      return;
    }
    request.body = body;
    handle(handler, authenticated, request, outgoing);
  });
}

/** Reads the body of a request as text. `done` receives an error if it is too large or not UTF-8. */
export function readBodyText(
  incoming: IncomingMessage,
  maxBodyBytes: number,
  done: (body: string | A2AError) => void,
): void {
  if (Number(incoming.headers['content-length']) > maxBodyBytes) {
    done(tooLarge(maxBodyBytes));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let isRejected = false;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBodyBytes) {
      if (!isRejected) done(tooLarge(maxBodyBytes));
      isRejected = true;
      return;
    }
    if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  });
  incoming.on('end', () => {
    if (isRejected) return;
    if (first === undefined) {
      done('');
      return;
    }
    const bytes = more ? Buffer.concat(more) : first;
    // Frees the buffers: an open stream references the request, which references this closure.
    first = undefined;
    more = undefined;
    if (isUtf8(bytes)) done(bytes.toString('utf8'));
    else done(new A2AError('PARSE_ERROR', 'The body must be UTF-8'));
  });
}

function tooLarge(maxBodyBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `Request body exceeds ${maxBodyBytes} bytes`, {
    details: { limit: 'maxBodyBytes' },
  });
}

/** Milliseconds for which the rest of a rejected body is discarded before the connection is closed. */
const discardTimeout = 1_000;

/**
 * Sends an error response and discards the rest of the body for a while: a client that is still sending would not see
 * the response if the connection were closed at once.
 */
export function rejectBody(
  response: HttpServerResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBodyBytes: number,
): void {
  if (incoming.complete) {
    send(outgoing, response);
    return;
  }
  const text = (response.body as string | undefined) ?? '';
  const length = String(Buffer.byteLength(text));
  outgoing.writeHead(response.status, [...response.headers, 'Connection', 'close', 'Content-Length', length]);
  outgoing.write(text);
  let remaining = maxBodyBytes;
  const closeTimer = setTimeout(() => incoming.destroy(), discardTimeout);
  incoming.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) incoming.destroy();
  });
  incoming.on('end', () => outgoing.end());
  incoming.on('error', () => outgoing.destroy());
  outgoing.on('close', () => clearTimeout(closeTimer));
}

/** Handles a request and releases it after the response. */
function handle(
  handler: AgentHttpHandler,
  authenticated: HttpServerRequest,
  request: NodeServerRequest,
  outgoing: ServerResponse,
): void {
  const response = handler.handle(authenticated);
  if (response instanceof Promise) void response.then((each) => deliver(handler, each, request, outgoing));
  else deliver(handler, response, request, outgoing);
}

function deliver(
  handler: AgentHttpHandler,
  response: HttpServerResponse,
  request: NodeServerRequest,
  outgoing: ServerResponse,
): void {
  if (!(response.body instanceof SseStream)) {
    send(outgoing, response);
    request.release();
    return;
  }
  const stream = response.body;
  request.shrink();
  request.attachStream(stream, handler.context);
  const streamingResponse: StreamingResponse = outgoing;
  streamingResponse[streamRequest] = request;
  if (outgoing.destroyed) {
    releaseRequest.call(streamingResponse);
    return;
  }
  outgoing.writeHead(response.status, response.headers);
  outgoing.on('close', releaseRequest);
  stream.pipe(outgoing);
}

/** Property of a streaming response with its request, so that all responses share one listener. */
const streamRequest = Symbol('streamRequest');

interface StreamingResponse extends ServerResponse {
  [streamRequest]?: NodeServerRequest;
}

function releaseRequest(this: StreamingResponse): void {
  this[streamRequest]?.release();
}

/** Sends a complete response. */
function send(outgoing: ServerResponse, { status, headers, body, length }: HttpServerResponse): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  const text = (body as string | undefined) ?? '';
  // The length is sent before the text; 204 and 304 have none.
  if (status === 204 || status === 304) outgoing.writeHead(status, headers);
  else outgoing.writeHead(status, [...headers, 'Content-Length', String(length ?? Buffer.byteLength(text))]);
  outgoing.end(text);
}

/** A request received by `node:http`. */
export class NodeServerRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  body: string;
  telemetry: RequestTelemetry | undefined = undefined;
  #incoming: IncomingMessage | undefined;
  #outgoing: ServerResponse | undefined;
  #stream: SseStream | undefined = undefined;
  #context: ServerContext | undefined = undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, body: string) {
    const url = incoming.url ?? '/';
    const queryStart = url.indexOf('?');
    this.method = incoming.method ?? 'GET';
    this.path = queryStart < 0 ? url : url.slice(0, queryStart);
    this.query = queryStart < 0 ? '' : url.slice(queryStart + 1);
    this.headers = incoming.headers;
    this.body = body;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get isSecure(): boolean {
    return (this.#incoming?.socket as { encrypted?: boolean } | undefined)?.encrypted === true;
  }

  get remoteAddress(): string | undefined {
    return this.#incoming?.socket.remoteAddress;
  }

  get certificate(): X509Certificate | undefined {
    const socket = this.#incoming?.socket as Partial<TLSSocket> | undefined;
    return socket?.authorized ? socket.getPeerX509Certificate?.() : undefined;
  }

  onDisconnect(callback: () => void): void {
    const outgoing = this.#outgoing;
    outgoing?.once('close', () => {
      if (!outgoing.writableFinished) callback();
    });
  }

  /** Frees members that are not needed by a stream, which may stay open for hours. */
  shrink(): void {
    this.body = '';
    if (this.#incoming) this.#incoming.rawHeaders = [];
  }

  /** Attaches the stream of the response, which ends with the connection. */
  attachStream(stream: SseStream, context: ServerContext): void {
    this.#stream = stream;
    this.#context = context;
  }

  /** Releases the connection: a task may reference this request long after the connection has closed. */
  release(): void {
    this.body = '';
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream) {
      stream.detach();
      this.#context?.streamEnded(stream);
    }
    this.telemetry = undefined;
    this.#incoming = undefined;
    this.#outgoing = undefined;
  }
}
