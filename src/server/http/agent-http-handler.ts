import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { isJsonMediaType, type SameOriginCheck } from '../../primitives/web/same-origin-check.ts';
import { AuthenticatedRequest } from '../auth/authenticated-request.ts';
import { AuthError } from '../auth/auth-error.ts';
import { checkPolicy } from '../auth/call-policy.ts';
import { createSameOriginCheck, preflightResponse, withCors } from './cors.ts';
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
import type { ServerBudgets } from '../limits/server-budgets.ts';
import { MetricsEndpoint } from '../telemetry/metrics-endpoint.ts';
import { withRetryAfter } from '../limits/limits.ts';
import { withoutPreview } from './requested-version.ts';
import type { ServerOptions } from '../server-options.ts';
import { isRpcPath, errorResponse, authErrorResponse } from './error-response.ts';
import { isServerPath } from './reserved-paths.ts';
import { handleRest, isRestRoute, restErrorResponse } from './rest.ts';
import { SseStream } from './sse-stream.ts';
import { observeTraffic } from '../telemetry/traffic-observer.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Handles HTTP requests for an agent: all transports and versions, independent of the HTTP server. */
export class AgentHttpHandler {
  readonly context: ServerContext;
  readonly #options: ServerOptions;
  readonly #basePath: string;
  readonly #metrics: MetricsEndpoint | undefined;
  /** Undefined if all clients are authenticated. */
  readonly #sameOrigin: SameOriginCheck | undefined;
  /** True once the agent accepts calls; reported by `/readyz`. */
  isReady = false;
  /** True once the server stops; `/readyz` responds 503 although requests are accepted. */
  isStopping = false;
  /** Error of all requests except health checks, while the agent cannot be called. */
  refusal: A2AError | undefined = undefined;

  /** @param budgets - shared by several agents of one server. */
  constructor(agent: Agent, options: ServerOptions = {}, budgets?: ServerBudgets) {
    this.#basePath = stripTrailing(options.basePath ?? '', '/');
    if (!/^(?:\/[^?#]*)?$/.test(this.#basePath))
      throw invalidField('basePath', 'must start with "/" and contain neither "?" nor "#"');
    this.#options = { ...options, basePath: this.#basePath };
    this.context = new ServerContext(agent, this.#options, budgets);
    const { metrics = false } = options;
    this.#sameOrigin = createSameOriginCheck(options);
    const metricsRegistry = this.context.telemetry?.metrics;
    this.#metrics =
      metricsRegistry &&
      new MetricsEndpoint(this.context, metricsRegistry, typeof metrics === 'object' ? metrics : {});
  }

  /** Handles a request, synchronously if possible. Never rejects. */
  handle(request: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    const refusal = this.admit(request);
    if (refusal) return this.reject(request, refusal);
    return this.#options.onTraffic ? this.#handleObserved(request) : this.#handle(request);
  }

  /** Handles a request with buffered body, synchronously if possible. Bodies of unauthenticated requests are not observable. */
  handleBuffered(
    request: HttpServerRequest & { body: string },
  ): Promise<HttpServerResponse> | HttpServerResponse {
    if (!this.requiresAuthentication) return this.handle(request);
    const refusal = this.admit(request);
    if (refusal) return this.reject(request, refusal);
    const { body } = request;
    request.body = '';
    return this.#withAuthentication(request, (authenticated) => {
      request.body = body;
      return this.handle(authenticated);
    });
  }

  /** The observer sees a request only after authentication and without credentials. */
  #handleObserved(request: HttpServerRequest): Promise<HttpServerResponse> {
    return this.#withAuthentication(request, async (authenticated) => {
      const observe = observeTraffic(this.#options.onTraffic, authenticated);
      return observe(await this.#handle(authenticated));
    });
  }

  async #withAuthentication(
    request: HttpServerRequest,
    handle: (authenticated: HttpServerRequest) => Promise<HttpServerResponse> | HttpServerResponse,
  ): Promise<HttpServerResponse> {
    let authenticated: HttpServerRequest;
    try {
      authenticated = await this.authenticate(request);
    } catch (thrown) {
      return this.reject(request, A2AError.from(thrown));
    }
    return handle(authenticated);
  }

  #handle(request: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    const { telemetry } = this.context;
    if (telemetry) request.telemetry = telemetry.start(request);
    const { headers } = request;
    const isPlain =
      !telemetry &&
      headers.origin === undefined &&
      headers['a2a-extensions'] === undefined &&
      headers['x-a2a-extensions'] === undefined;
    let response: Promise<HttpServerResponse> | HttpServerResponse;
    try {
      const authenticated = this.authenticate(request);
      response =
        authenticated instanceof Promise
          ? authenticated.then((each) => this.#route(each))
          : this.#route(authenticated);
      if (response instanceof Promise)
        response = response.catch((thrown: unknown) => this.#unexpectedError(request, thrown));
    } catch (thrown) {
      response = this.#unexpectedError(request, thrown);
    }
    return isPlain ? response : this.#finish(request, response);
  }

  #unexpectedError(request: HttpServerRequest, thrown: unknown): HttpServerResponse {
    const error = A2AError.from(thrown);
    this.context.report(error, this.#withoutCredentials(request));
    return this.#errorResponse(request, error);
  }

  /** Adds extension and CORS headers, which only some clients need, and ends the telemetry. */
  async #finish(
    request: HttpServerRequest,
    pending: Promise<HttpServerResponse> | HttpServerResponse,
  ): Promise<HttpServerResponse> {
    const { headers } = request;
    let response = await pending;
    if (headers['a2a-extensions'] !== undefined || headers['x-a2a-extensions'] !== undefined)
      response = await withActivatedExtensions(request, response, this.context.agent);
    if (!(response.body instanceof SseStream)) request.telemetry?.end(response.status);
    return headers.origin === undefined ? response : withCors(request, response, this.#options);
  }

  /**
   * Checks a request before authentication. Adapters call it before they read the body.
   *
   * @returns the error for {@link AgentHttpHandler.reject}, or undefined if the request may be handled.
   */
  admit(request: HttpServerRequest): A2AError | undefined {
    if (request.isAdmitted) return undefined;
    if (this.refusal && !healthPaths.has(this.#localPath(request) ?? '')) return this.refusal;
    const { proxies } = this.context;
    if (proxies) request.clientAddress = proxies.clientAddress(request);
    const problem = this.#sameOrigin?.problem(request.headers, request);
    if (problem !== undefined) return new A2AError('PERMISSION_DENIED', problem);
    request.isAdmitted = true;
    return this.context.limiter.admit(request);
  }

  /**
   * Authenticates a request, if authentication is enabled. Adapters call it before they read the body.
   *
   * @returns the request without credentials, synchronously if possible.
   */
  authenticate(request: HttpServerRequest): Promise<HttpServerRequest> | HttpServerRequest {
    const { authenticators } = this.context;
    if (!authenticators || request instanceof AuthenticatedRequest) return request;
    const path = this.#localPath(request);
    // `metrics.allow` may need the credentials.
    if (this.#metrics?.path === path && isReadMethod(request)) return request;
    if (path !== undefined && !isPublic(request, path)) return authenticators.authenticate(request);
    // With a policy, the client decides about the card.
    return this.context.policy && path !== undefined && cardPaths.has(path)
      ? authenticators.authenticate(request, { allowAnonymous: true })
      : authenticators.stripCredentials(request);
  }

  /** Observer of requests and responses, if there is one. */
  get onTraffic(): ServerOptions['onTraffic'] {
    return this.#options.onTraffic;
  }

  /** Must be called when a stream has ended. May be called twice. */
  streamEnded(stream: SseStream): void {
    this.context.streamEnded(stream);
  }

  /** True if authentication is enabled. */
  get requiresAuthentication(): boolean {
    return this.context.authenticators !== undefined;
  }

  #withoutCredentials(request: HttpServerRequest): HttpServerRequest {
    return request instanceof AuthenticatedRequest
      ? request
      : (this.context.authenticators?.stripCredentials(request) ?? request);
  }

  #errorResponse(request: HttpServerRequest, error: A2AError): HttpServerResponse {
    const path = this.#localPath(request);
    if (request.method === 'POST' && isRpcPath(path) && !(error instanceof AuthError))
      return rpcErrorResponse(error, null, v1_0);
    if (error instanceof AuthError && path !== undefined)
      return authErrorResponse(error, request.method, path, this.#versionText(request));
    return restErrorResponse(error, v1_0);
  }

  #route(request: HttpServerRequest): Promise<HttpServerResponse> | HttpServerResponse {
    const { method } = request;
    const path = this.#localPath(request);
    if (path === undefined) throw new A2AError('NOT_FOUND');
    const version = this.#versionText(request);
    if (method === 'POST' && isRpcPath(path)) return this.#post(request, path, version);
    if (method === 'OPTIONS') return preflightResponse(request, this.#options);
    if (method === 'GET' || method === 'HEAD') {
      switch (path) {
        case '/.well-known/agent-card.json':
          if (hasOldCardPath(this.#options.onlyVersion) === true) throw new A2AError('NOT_FOUND');
          return this.#card(request, false, version);
        case '/.well-known/agent.json':
          if (hasOldCardPath(this.#options.onlyVersion) === false) throw new A2AError('NOT_FOUND');
          return this.#card(request, true, version);
        case '/.well-known/jwks.json':
          if (!this.context.agent.jwks) break;
          return this.context.agent.jwks().then((keys) => jsonResponse(200, JSON.stringify(keys)));
        case '/healthz':
          request.telemetry = undefined;
          return jsonResponse(200, '{"status":"ok"}');
        case '/readyz':
          request.telemetry = undefined;
          return this.#readiness();
        case '/agent/authenticatedExtendedCard':
          return this.#extendedCard(request);
      }
      if (this.#metrics?.path === path) return this.#metrics.handle(request);
      if (isRpcPath(path))
        throw new A2AError('METHOD_NOT_ALLOWED', 'JSON-RPC requires POST', { details: { allow: 'POST' } });
    } else if (publicPaths.has(path) || this.#metrics?.path === path)
      throw new A2AError('METHOD_NOT_ALLOWED', undefined, { details: { allow: 'GET, HEAD' } });
    if (isServerPath(path)) throw new A2AError('NOT_FOUND');
    if (method === 'POST') return this.#post(request, path, version);
    return handleRest(this.context, request, path, undefined, version);
  }

  async #card(
    request: HttpServerRequest,
    isOldPath: boolean,
    version: string | undefined,
  ): Promise<HttpServerResponse> {
    if (this.context.policy) await checkPolicy(this.context, request, { operation: 'card', ...cardCall });
    return this.context.cards.handle(request, isOldPath, version);
  }

  async #extendedCard(request: HttpServerRequest): Promise<HttpServerResponse> {
    const { authorizer, policy, cards } = this.context;
    const check =
      policy && (() => checkPolicy(this.context, request, { operation: 'extendedCard', ...cardCall }));
    return cards.handleExtended(request, authorizer, check);
  }

  /** Whether the agent accepts calls, and why not. */
  get readiness(): { status: 'stopping' | 'starting' | 'ready' | 'unavailable'; error?: A2AError } {
    if (this.isStopping) return { status: 'stopping' };
    if (!this.isReady) return { status: 'starting' };
    const outage = this.context.agent.outage?.();
    return outage ? { status: 'unavailable', error: outage.error } : { status: 'ready' };
  }

  /** Responds 503 while the agent starts, and while its calls would fail. */
  #readiness(): HttpServerResponse {
    const { status, error } = this.readiness;
    const checks = this.context.agent.checks?.();
    const body = JSON.stringify({ status, reason: error?.message, checks });
    const response = jsonResponse(status === 'ready' ? 200 : 503, body);
    return error ? withRetryAfter(response, error) : response;
  }

  #post(
    request: HttpServerRequest,
    path: string,
    version: string | undefined,
  ): Promise<HttpServerResponse> | HttpServerResponse {
    const isRpc = isRpcPath(path);
    try {
      checkContentType(request);
      // Cancel and subscribe may have no body, and some clients send `null`.
      const body =
        request.body === '' && !isRpc ? undefined : parseUntrustedJson(request.body, this.context.limits);
      if (isRpc || (isEnvelope(body) && isRestRoute(path)))
        return handleRpc(this.context, request, body, version);
      return handleRest(this.context, request, path, body, version);
    } catch (thrown) {
      const error = this.context.limiter.takeRate(request) ?? A2AError.from(thrown);
      this.context.report(error, request);
      return errorResponse(error, path, version);
    }
  }

  /** Returns the response to a request that failed before its body was read. */
  reject(request: HttpServerRequest, cause: A2AError): HttpServerResponse {
    const { telemetry, limiter } = this.context;
    const error = (unreadableReasons.has(cause.reason) ? limiter.takeRate(request) : undefined) ?? cause;
    const observe = observeTraffic(this.#options.onTraffic, this.#withoutCredentials(request));
    if (telemetry) request.telemetry = telemetry.start(request);
    this.context.report(error, this.#withoutCredentials(request));
    const response =
      error instanceof AuthError
        ? this.#errorResponse(request, error)
        : errorResponse(error, this.#localPath(request) ?? '/', this.#versionText(request));
    request.telemetry?.end(response.status);
    return observe(withCors(request, response, this.#options));
  }

  /** Returns the requested version, unvalidated. */
  #versionText(request: HttpServerRequest): string | undefined {
    return this.#options.onlyVersion ?? withoutPreview(requestedVersion(request), this.#options.preview);
  }

  #localPath({ path }: HttpServerRequest): string | undefined {
    return this.localPath(path);
  }

  /** Returns a path without the base path; undefined if it is not below it. */
  localPath(path: string): string | undefined {
    if (this.#basePath === '') return normalizeSlashes(path);
    if (!path.startsWith(this.#basePath)) return undefined;
    const local = path.slice(this.#basePath.length);
    return local === '' ? '/' : local.startsWith('/') ? normalizeSlashes(local) : undefined;
  }
}

/** Removes duplicate leading slashes, which result from appending a path to a URL with a trailing slash. */
function normalizeSlashes(path: string): string {
  return path.startsWith('//') ? path.replace(/^\/+/, '/') : path;
}

/** Requests for a card at paths that are not part of the REST transport. */
const cardCall = { tenant: undefined, versions: ['0.3'], transport: 'HTTP+JSON', request: {} } as const;

const cardPaths: ReadonlySet<string> = new Set(['/.well-known/agent-card.json', '/.well-known/agent.json']);

const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Paths that need no authentication: agent cards and health checks. CORS preflight requests need none either. */
const publicPaths = new Set([...cardPaths, '/.well-known/jwks.json', ...healthPaths]);

/** Reasons of bodies that could not be read; they count for the rate limit of the client. */
const unreadableReasons: ReadonlySet<string> = new Set(['PAYLOAD_TOO_LARGE', 'PARSE_ERROR']);

function isPublic(request: HttpServerRequest, path: string): boolean {
  return request.method === 'OPTIONS' || (publicPaths.has(path) && isReadMethod(request));
}

function isReadMethod({ method }: HttpServerRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns true for a JSON-RPC request, or for a batch, which gets a JSON-RPC error. */
function isEnvelope(body: unknown): boolean {
  if (Array.isArray(body)) return body.length > 0 && isEnvelope(body[0]);
  return typeof body === 'object' && body !== null && 'jsonrpc' in body && 'method' in body;
}

function checkContentType({ headers, body }: HttpServerRequest): void {
  const type = singleHeader(headers, 'content-type');
  if (body === '' || isJsonMediaType(type)) return;
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'The body must be application/json', {
    ...(type !== undefined && { details: { contentType: type.slice(0, 100) } }),
  });
}

/** Returns the version that the client requests in a header or in the query. */
function requestedVersion({ headers, query }: HttpServerRequest): string | undefined {
  const header = singleHeader(headers, 'a2a-version');
  if (header !== undefined && header !== '') return header;
  if (query === '' || !/(^|&)a2a-version=/i.test(query)) return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (name.toLowerCase() === 'a2a-version') return value;
  return undefined;
}

/** Returns whether the card of a version is at its old path; undefined if all versions are served. */
function hasOldCardPath(onlyVersion: ServerOptions['onlyVersion']): boolean | undefined {
  return onlyVersion && (onlyVersion === '0.1' || onlyVersion === '0.2');
}
