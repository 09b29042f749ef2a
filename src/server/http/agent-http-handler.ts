import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { AuthenticatedRequest } from '../auth/authenticated-request.ts';
import { AuthError } from '../auth/auth-error.ts';
import { preflightResponse, withCors } from './cors.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from './http-message.ts';
import { withActivatedExtensions } from './extensions.ts';
import { ServerContext } from './server-context.ts';
import { parseUntrustedJson } from './parse-json.ts';
import { handleRpc, rpcErrorResponse } from './json-rpc.ts';
import { MetricsEndpoint } from '../telemetry/metrics-endpoint.ts';
import type { ServerOptions } from '../server-options.ts';
import { isRpcPath, errorResponse, authErrorResponse } from './error-response.ts';
import { handleRest, restErrorResponse } from './rest.ts';
import { SseStream } from './sse-stream.ts';
import { observeTraffic } from '../telemetry/traffic-observer.ts';

/** Shows an agent over HTTP: every binding and every version, whatever received the request. */
export class AgentHttpHandler {
  readonly context: ServerContext;
  readonly #options: ServerOptions;
  readonly #basePath: string;
  readonly #metrics: MetricsEndpoint | undefined;
  /** True once the agent can take calls. */
  isReady = false;

  constructor(agent: Agent, options: ServerOptions = {}) {
    this.#basePath = (options.basePath ?? '').replace(/\/+$/, '');
    this.#options = { ...options, basePath: this.#basePath };
    this.context = new ServerContext(agent, this.#options);
    const { metrics = false } = options;
    const kept = this.context.telemetry?.metrics;
    this.#metrics =
      kept && new MetricsEndpoint(this.context, kept, typeof metrics === 'object' ? metrics : {});
  }

  /** Answers one request, at once if it can. Never rejects. */
  handle(exchange: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    return this.#options.onTraffic ? this.#answerInView(exchange) : this.#answer(exchange);
  }

  /** Answers one request that came with its body, at once if it can: of callers that are not let in, nobody sees that. */
  handleBuffered(
    exchange: HttpServerRequest & { body: string },
  ): Promise<HttpServerResponse> | HttpServerResponse {
    if (!this.requiresAuthentication) return this.handle(exchange);
    const { body } = exchange;
    exchange.body = '';
    return this.#letIn(exchange, (admitted) => {
      exchange.body = body;
      return this.handle(admitted);
    });
  }

  /** Who calls is known before anybody sees the request, and its credentials are gone. */
  #answerInView(exchange: HttpServerRequest): Promise<HttpServerResponse> {
    return this.#letIn(exchange, async (admitted) => {
      const show = observeTraffic(this.#options.onTraffic, admitted);
      return show(await this.#answer(admitted));
    });
  }

  /** Goes on with a request whose caller is let in, and refuses all others. */
  async #letIn(
    exchange: HttpServerRequest,
    goOn: (admitted: HttpServerRequest) => Promise<HttpServerResponse> | HttpServerResponse,
  ): Promise<HttpServerResponse> {
    let admitted: HttpServerRequest;
    try {
      admitted = await this.authenticate(exchange);
    } catch (thrown) {
      return this.reject(exchange, A2AError.from(thrown));
    }
    return goOn(admitted);
  }

  #answer(exchange: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    const { telemetry: watch } = this.context;
    if (watch) exchange.telemetry = watch.begin(exchange);
    const { headers } = exchange;
    const isPlain =
      !watch &&
      headers.origin === undefined &&
      headers['a2a-extensions'] === undefined &&
      headers['x-a2a-extensions'] === undefined;
    let reply: Promise<HttpServerResponse> | HttpServerResponse;
    try {
      const admitting = this.authenticate(exchange);
      reply =
        admitting instanceof Promise ? admitting.then((each) => this.#route(each)) : this.#route(admitting);
      if (reply instanceof Promise) reply = reply.catch((thrown: unknown) => this.#failed(exchange, thrown));
    } catch (thrown) {
      reply = this.#failed(exchange, thrown);
    }
    return isPlain ? reply : this.#finished(exchange, reply);
  }

  #failed(exchange: HttpServerRequest, thrown: unknown): HttpServerResponse {
    const error = A2AError.from(thrown);
    this.context.report(error, this.#hidden(exchange));
    return this.#failure(exchange, error);
  }

  /** Adds what only some callers need to a reply. */
  async #finished(
    exchange: HttpServerRequest,
    answering: Promise<HttpServerResponse> | HttpServerResponse,
  ): Promise<HttpServerResponse> {
    const { headers } = exchange;
    let reply = await answering;
    if (headers['a2a-extensions'] !== undefined || headers['x-a2a-extensions'] !== undefined)
      reply = await withActivatedExtensions(exchange, reply, this.context.agent);
    if (!(reply.body instanceof SseStream)) exchange.telemetry?.end(reply.status);
    return headers.origin === undefined ? reply : withCors(exchange, reply, this.#options);
  }

  /**
   * Finds out who calls, if anybody wants to know; adapters ask before they take the body in.
   *
   * @returns what to go on with, at once if that can be told at once.
   */
  authenticate(exchange: HttpServerRequest): Promise<HttpServerRequest> | HttpServerRequest {
    const { authenticators: gate } = this.context;
    if (!gate || exchange instanceof AuthenticatedRequest) return exchange;
    const path = this.#localPath(exchange);
    // Who may read metrics is decided by what the gate would hide.
    if (this.#metrics?.path === path && isReading(exchange)) return exchange;
    return path === undefined || isPublic(exchange, path)
      ? gate.stripCredentials(exchange)
      : gate.authenticate(exchange);
  }

  /** A stream that it opened is over. May be told twice. */
  streamEnded(stream: SseStream): void {
    this.context.streamEnded(stream);
  }

  /** True when callers have to prove who they are. */
  get requiresAuthentication(): boolean {
    return this.context.authenticators !== undefined;
  }

  #hidden(exchange: HttpServerRequest): HttpServerRequest {
    return exchange instanceof AuthenticatedRequest
      ? exchange
      : (this.context.authenticators?.stripCredentials(exchange) ?? exchange);
  }

  #failure(exchange: HttpServerRequest, error: A2AError): HttpServerResponse {
    const path = this.#localPath(exchange);
    if (exchange.method === 'POST' && isRpcPath(path) && !(error instanceof AuthError))
      return rpcErrorResponse(error, null, v1_0);
    if (error instanceof AuthError && path !== undefined)
      return authErrorResponse(error, exchange.method, path, this.#versionText(exchange));
    return restErrorResponse(error, v1_0);
  }

  #route(exchange: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    const { method } = exchange;
    const path = this.#localPath(exchange);
    if (path === undefined) throw new A2AError('NOT_FOUND');
    const version = this.#versionText(exchange);
    if (method === 'POST') return this.#post(exchange, path, version);
    if (method === 'OPTIONS') return preflightResponse(exchange, this.#options);
    if (method === 'GET' || method === 'HEAD') {
      switch (path) {
        case '/.well-known/agent-card.json':
          if (this.#options.onlyVersion === '0.1') throw new A2AError('NOT_FOUND');
          return this.context.cards.answer(exchange, false, version);
        case '/.well-known/agent.json':
          if (this.#options.onlyVersion === '0.3') throw new A2AError('NOT_FOUND');
          return this.context.cards.answer(exchange, true, version);
        case '/.well-known/jwks.json':
          if (!this.context.agent.jwks) break;
          return this.context.agent.jwks().then((keys) => jsonResponse(200, JSON.stringify(keys)));
        case '/healthz':
          exchange.telemetry = undefined;
          return jsonResponse(200, '{"status":"ok"}');
        case '/readyz':
          exchange.telemetry = undefined;
          return this.isReady
            ? jsonResponse(200, '{"status":"ready"}')
            : jsonResponse(503, '{"status":"starting"}');
        case '/agent/authenticatedExtendedCard':
          return this.context.cards.extended(exchange, this.context.authorizer);
      }
      if (this.#metrics?.path === path) return this.#metrics.answer(exchange);
      if (isRpcPath(path))
        throw new A2AError('METHOD_NOT_ALLOWED', 'JSON-RPC takes POST', { details: { allow: 'POST' } });
    }
    return handleRest(this.context, exchange, path, undefined, version);
  }

  #post(
    exchange: HttpServerRequest,
    path: string,
    version: string | undefined,
  ): Promise<HttpServerResponse> | HttpServerResponse {
    const isRpc = isRpcPath(path);
    try {
      checkContentType(exchange);
      // Cancel and subscribe may come without a body, and some clients send the text `null`.
      const body =
        exchange.body === '' && !isRpc
          ? undefined
          : parseUntrustedJson(exchange.body, this.context.limits.jsonDepth);
      if (isRpc || isEnvelope(body)) return handleRpc(this.context, exchange, body, version);
      return handleRest(this.context, exchange, path, body, version);
    } catch (thrown) {
      const error = A2AError.from(thrown);
      this.context.report(error, exchange);
      return errorResponse(error, path, version);
    }
  }

  /** Refuses a request whose body cannot even be read. */
  reject(exchange: HttpServerRequest, error: A2AError): HttpServerResponse {
    const { telemetry: watch } = this.context;
    const show = observeTraffic(this.#options.onTraffic, this.#hidden(exchange));
    if (watch) exchange.telemetry = watch.begin(exchange);
    this.context.report(error, this.#hidden(exchange));
    const reply =
      error instanceof AuthError
        ? this.#failure(exchange, error)
        : errorResponse(error, this.#localPath(exchange) ?? '/', this.#versionText(exchange));
    exchange.telemetry?.end(reply.status);
    return show(withCors(exchange, reply, this.#options));
  }

  /** The version to answer in, as far as its name goes. */
  #versionText(exchange: HttpServerRequest): string | undefined {
    return this.#options.onlyVersion ?? versionTextOf(exchange);
  }

  #localPath({ path }: HttpServerRequest): string | undefined {
    if (this.#basePath === '') return withOneSlash(path);
    if (!path.startsWith(this.#basePath)) return undefined;
    const local = path.slice(this.#basePath.length);
    return local === '' ? '/' : local.startsWith('/') ? withOneSlash(local) : undefined;
  }
}

/** A path put behind an address that ends with a slash begins with two. */
function withOneSlash(path: string): string {
  return path.startsWith('//') ? path.replace(/^\/+/, '/') : path;
}

/** What everybody may see: who the agent is and whether it is well, and what a browser asks before it asks. */
const publicPaths = new Set([
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/jwks.json',
  '/healthz',
  '/readyz',
]);

function isPublic(exchange: HttpServerRequest, path: string): boolean {
  return exchange.method === 'OPTIONS' || (publicPaths.has(path) && isReading(exchange));
}

function isReading({ method }: HttpServerRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** True for a request of JSON-RPC, and for a batch of them, which is refused in its own words. */
function isEnvelope(body: unknown): boolean {
  if (Array.isArray(body)) return body.length > 0 && isEnvelope(body[0]);
  return typeof body === 'object' && body !== null && 'jsonrpc' in body && 'method' in body;
}

function checkContentType({ headers, body }: HttpServerRequest): void {
  const type = singleHeader(headers, 'content-type');
  if (type === undefined || body === '') return;
  if (type === 'application/json' || /^application\/([\w.-]+\+)?json(-rpc)?\s*(;|$)/i.test(type)) return;
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'The body must be application/json', {
    details: { contentType: type.slice(0, 100) },
  });
}

/** The version that the caller names, in its header or in the query. */
function versionTextOf({ headers, query }: HttpServerRequest): string | undefined {
  const header = singleHeader(headers, 'a2a-version');
  if (header !== undefined && header !== '') return header;
  if (query === '' || !/(^|&)a2a-version=/i.test(query)) return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (name.toLowerCase() === 'a2a-version') return value;
  return undefined;
}
