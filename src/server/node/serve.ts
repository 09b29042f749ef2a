import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { openTracing } from '../../tracing/tracing.ts';
import { headerCountError } from './connection-limits.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { defaultLimits } from '../limits/limits.ts';
import { listen, type ServeOptions, type RunningServer } from './listen.ts';
import { NodeServerRequest } from './node-server-request.ts';
import { readBodyText, rejectBody, rejectUnread } from './request-body.ts';
import { sendResponse } from './send-response.ts';
import type { ServerOptions } from '../server-options.ts';
import { SseStream } from '../http/sse-stream.ts';

export type { DrainOptions, ServeOptions, RunningServer } from './listen.ts';

/** Serves an agent over HTTP: all transports and versions on one port. */
export async function serve(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  // Fails at once if tracing is requested but not available.
  await openTracing(options.tracing);
  const handler = new AgentHttpHandler(agent, options);
  const { context } = handler;
  const listener = nodeListener(handler, options);
  const server = await listen(
    {
      listener,
      contexts: () => [context],
      metrics: context.telemetry?.metrics,
      handlerFor: () => handler,
      onStopping: () => {
        handler.isStopping = true;
      },
      whenIdle: async (timeout) => agent.whenIdle?.(timeout),
    },
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
    const request = new NodeServerRequest(incoming, outgoing, '');
    const refusal = handler.admit(request);
    if (refusal) {
      rejectUnread(handler.reject(request, refusal), incoming, outgoing, maxBodyBytes);
      return;
    }
    const exchange = { request, incoming, outgoing, maxBodyBytes };
    if (handler.requiresAuthentication) void authenticateAndRead(handler, exchange);
    else readAndHandle(handler, request, exchange);
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

/** A request whose body has not been read. */
interface UnreadExchange {
  readonly request: NodeServerRequest;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly maxBodyBytes: number;
}

/** Reads the body only after authentication. */
async function authenticateAndRead(handler: AgentHttpHandler, exchange: UnreadExchange): Promise<void> {
  const { request, incoming, outgoing, maxBodyBytes } = exchange;
  let authenticated: HttpServerRequest;
  try {
    const authentication = handler.authenticate(request);
    authenticated = authentication instanceof Promise ? await authentication : authentication;
  } catch (thrown) {
    rejectUnread(handler.reject(request, A2AError.from(thrown)), incoming, outgoing, maxBodyBytes);
    return;
  }
  readAndHandle(handler, authenticated, exchange);
}

function readAndHandle(
  handler: AgentHttpHandler,
  authenticated: HttpServerRequest,
  { request, incoming, outgoing, maxBodyBytes }: UnreadExchange,
): void {
  const reservation = handler.context.budgets.openBody(authenticated);
  request.reservation = reservation;
  outgoing.once('close', () => reservation.release());
  readBodyText(
    incoming,
    maxBodyBytes,
    (body) => {
      if (typeof body !== 'string') {
        reservation.release();
        rejectBody(handler.reject(authenticated, body), incoming, outgoing, maxBodyBytes);
        return;
      }
      request.body = body;
      handle(handler, authenticated, request, outgoing);
    },
    reservation,
  );
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
    sendResponse(outgoing, response, handler.context);
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
