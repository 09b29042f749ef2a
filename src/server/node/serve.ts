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

/** Serves an agent over HTTP, in every version on one port. */
export async function serve(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  // Whoever asks for traces hears at once that there will be none.
  await openTracing(options.tracing);
  const httpFace = new AgentHttpHandler(agent, options);
  const { context: face } = httpFace;
  const listener = nodeListener(httpFace, options);
  const server = await listen(
    { listener, contexts: () => [face], metrics: face.telemetry?.metrics, handlerFor: () => httpFace },
    options,
  );
  try {
    await agent.ready?.();
  } catch (error) {
    await server.stop(0);
    throw error;
  }
  httpFace.isReady = true;
  return server;
}

/** A listener for `node:http` that shows an agent. Nothing of the web's `Request` and `Response` is on its way. */
export function nodeListener(
  httpFace: AgentHttpHandler,
  options: ServerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const { maxBodyBytes = defaultLimits.maxBodyBytes, limits = {} } = options;
  return (request, response) => {
    if (!response.socket) closeWithConnection(request, response);
    const tooMany = headerCountError(request, limits);
    if (tooMany) {
      const reply = httpFace.reject(new NodeServerRequest(request, response, ''), tooMany);
      rejectBody({ ...reply, status: 431 }, request, response, maxBodyBytes);
      return;
    }
    if (request.method === 'GET' || request.method === 'HEAD') {
      const exchange = new NodeServerRequest(request, response, '');
      handle(httpFace, exchange, exchange, response);
      return;
    }
    if (httpFace.requiresAuthentication) {
      void receiveFromKnown(httpFace, request, response, maxBodyBytes);
      return;
    }
    readBody(request, maxBodyBytes, (body) => {
      const exchange = new NodeServerRequest(request, response, typeof body === 'string' ? body : '');
      if (typeof body === 'string') handle(httpFace, exchange, exchange, response);
      else rejectBody(httpFace.reject(exchange, body), request, response, maxBodyBytes);
    });
  };
}

/** Closes a response that waits behind others with its connection: Node tells only the first of them. */
function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  const close = (): void => {
    if (response.socket) return;
    response.destroy();
    response.emit('close');
  };
  // As many wait as the caller likes.
  socket.setMaxListeners(0).once('close', close);
  response.once('close', () => socket.off('close', close));
}

/** How large a body may say it is for its connection to be kept although nobody wants it. */
const smallBody = 64 * 1_024;

/** Takes the body in once it is known whose it is. */
async function receiveFromKnown(
  httpFace: AgentHttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): Promise<void> {
  const exchange = new NodeServerRequest(request, response, '');
  let admitted: HttpServerRequest;
  try {
    const admitting = httpFace.authenticate(exchange);
    admitted = admitting instanceof Promise ? await admitting : admitting;
  } catch (thrown) {
    const reply = httpFace.reject(exchange, A2AError.from(thrown));
    // Node throws away what is left of the body by itself.
    if (Number(request.headers['content-length']) <= smallBody) send(response, reply);
    else rejectBody(reply, request, response, maxBodyBytes);
    return;
  }
  readBody(request, maxBodyBytes, (body) => {
    if (typeof body !== 'string') {
      rejectBody(httpFace.reject(admitted, body), request, response, maxBodyBytes);
      return;
    }
    exchange.body = body;
    handle(httpFace, admitted, exchange, response);
  });
}

/** Takes the body of a request in, as text, within its limit. */
export function readBody(
  request: IncomingMessage,
  maxBodyBytes: number,
  done: (body: string | A2AError) => void,
): void {
  if (Number(request.headers['content-length']) > maxBodyBytes) {
    done(tooLarge(maxBodyBytes));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let isRefused = false;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBodyBytes) {
      if (!isRefused) done(tooLarge(maxBodyBytes));
      isRefused = true;
      return;
    }
    if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  });
  request.on('end', () => {
    if (isRefused) return;
    if (first === undefined) {
      done('');
      return;
    }
    const bytes = more ? Buffer.concat(more) : first;
    // The request holds this function, and an open stream the request.
    first = undefined;
    more = undefined;
    if (isUtf8(bytes)) done(bytes.toString('utf8'));
    else done(new A2AError('PARSE_ERROR', 'The body is not UTF-8'));
  });
}

function tooLarge(maxBodyBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `A request may have ${maxBodyBytes} bytes`, {
    details: { limit: 'maxBodyBytes' },
  });
}

/** For how many milliseconds a caller that was refused may go on sending before the line is cut. */
const patience = 1_000;

/**
 * Sends a refusal. Whoever is still sending would not see it if the connection were closed at once, so what comes is
 * thrown away for a while.
 */
export function rejectBody(
  reply: HttpServerResponse,
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): void {
  if (request.complete) {
    send(response, reply);
    return;
  }
  const text = (reply.body as string | undefined) ?? '';
  const length = String(Buffer.byteLength(text));
  response.writeHead(reply.status, [...reply.headers, 'Connection', 'close', 'Content-Length', length]);
  response.write(text);
  let left = maxBodyBytes;
  const cut = setTimeout(() => request.destroy(), patience);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.on('end', () => response.end());
  request.on('error', () => response.destroy());
  response.on('close', () => clearTimeout(cut));
}

/** Answers what was asked, and lets go of the exchange that it came in. */
function handle(
  httpFace: AgentHttpHandler,
  asked: HttpServerRequest,
  exchange: NodeServerRequest,
  response: ServerResponse,
): void {
  const reply = httpFace.handle(asked);
  if (reply instanceof Promise) void reply.then((each) => deliver(httpFace, each, exchange, response));
  else deliver(httpFace, reply, exchange, response);
}

function deliver(
  httpFace: AgentHttpHandler,
  reply: HttpServerResponse,
  exchange: NodeServerRequest,
  response: ServerResponse,
): void {
  if (!(reply.body instanceof SseStream)) {
    send(response, reply);
    exchange.release();
    return;
  }
  const stream = reply.body;
  exchange.shrink();
  exchange.streams(stream, httpFace.context);
  const streaming: Streaming = response;
  streaming[held] = exchange;
  if (response.destroyed) {
    leave.call(streaming);
    return;
  }
  response.writeHead(reply.status, reply.headers);
  response.on('close', leave);
  stream.pipe(response);
}

/** Where the response of an open stream keeps its exchange: one listener is enough for all of them then. */
const held = Symbol('held');

interface Streaming extends ServerResponse {
  [held]?: NodeServerRequest;
}

function leave(this: Streaming): void {
  this[held]?.release();
}

/** Sends a reply that is all there. */
function send(response: ServerResponse, { status, headers, body, length }: HttpServerResponse): void {
  if (response.destroyed || response.headersSent) return;
  const text = (body as string | undefined) ?? '';
  // Node asks for the length before it sends the text; a 204 and a 304 have none.
  if (status === 204 || status === 304) response.writeHead(status, headers);
  else response.writeHead(status, [...headers, 'Content-Length', String(length ?? Buffer.byteLength(text))]);
  response.end(text);
}

/** One request as Node received it. */
export class NodeServerRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  body: string;
  telemetry: RequestTelemetry | undefined = undefined;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  #stream: SseStream | undefined = undefined;
  #face: ServerContext | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = request.headers;
    this.body = body;
    this.#request = request;
    this.#response = response;
  }

  get isSecure(): boolean {
    return (this.#request?.socket as { encrypted?: boolean } | undefined)?.encrypted === true;
  }

  get remoteAddress(): string | undefined {
    return this.#request?.socket.remoteAddress;
  }

  get certificate(): X509Certificate | undefined {
    const socket = this.#request?.socket as Partial<TLSSocket> | undefined;
    return socket?.authorized ? socket.getPeerX509Certificate?.() : undefined;
  }

  onDisconnect(callback: () => void): void {
    const response = this.#response;
    response?.once('close', () => {
      if (!response.writableFinished) callback();
    });
  }

  /** Lets go of what only reading the request needed, because a stream may stay open for hours. */
  shrink(): void {
    this.body = '';
    if (this.#request) this.#request.rawHeaders = [];
  }

  /** The answer is a stream, which ends with the connection. */
  streams(stream: SseStream, face: ServerContext): void {
    this.#stream = stream;
    this.#face = face;
  }

  /** Lets go of the connection: a task may outlive it by hours, and holds the call that it came with. */
  release(): void {
    this.body = '';
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream) {
      stream.detach();
      this.#face?.streamEnded(stream);
    }
    this.telemetry = undefined;
    this.#request = undefined;
    this.#response = undefined;
  }
}
