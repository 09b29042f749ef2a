import type { IncomingMessage, ServerResponse } from 'node:http';
import { A2AError } from '../../protocol/errors.ts';
import { headerCountError } from './connection-limits.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { defaultLimits } from '../limits/limits.ts';
import { NodeServerRequest } from './node-server-request.ts';
import { readParsedBody } from './parsed-body.ts';
import { readBodyText, rejectBody, rejectUnread } from './request-body.ts';
import { sendResponse } from './send-response.ts';
import type { ServerOptions } from '../server-options.ts';
import { SseStream } from '../http/sse-stream.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Creates a request listener for `node:http`. It does not use the Fetch API. */
export function nodeListener(
  handler: AgentHttpHandler,
  options: ServerOptions = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { maxBodyBytes = defaultLimits.maxBodyBytes, limits = {} } = options;
  const basePath = stripTrailing(options.basePath ?? '', '/');
  return (incoming, outgoing) => {
    if (!outgoing.socket) closeWithConnection(incoming, outgoing);
    const tooMany = headerCountError(incoming, limits);
    if (tooMany) {
      const response = handler.reject(new NodeServerRequest(incoming, outgoing, basePath), tooMany);
      rejectBody({ ...response, status: 431 }, incoming, outgoing, maxBodyBytes);
      return;
    }
    if (incoming.method === 'GET' || incoming.method === 'HEAD') {
      const request = new NodeServerRequest(incoming, outgoing, basePath);
      handle(handler, request, request, outgoing);
      return;
    }
    const request = new NodeServerRequest(incoming, outgoing, basePath);
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
  const done = (body: string | A2AError): void => {
    if (typeof body !== 'string') {
      reservation.release();
      rejectBody(handler.reject(authenticated, body), incoming, outgoing, maxBodyBytes);
      return;
    }
    request.body = body;
    handle(handler, authenticated, request, outgoing);
  };
  // A body parser of a framework may have read the body.
  if (incoming.readableDidRead || incoming.readableEnded) done(readParsedBody(incoming, maxBodyBytes));
  else readBodyText(incoming, maxBodyBytes, done, reservation);
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
