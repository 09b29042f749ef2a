import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../protocol/agent.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import { isJsonMediaType, type SameOriginCheck } from '../../primitives/web/same-origin-check.ts';
import { AuthenticatorChain } from '../../server/auth/authenticator-chain.ts';
import { withChallenges } from '../../server/auth/auth-error.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from '../../server/http/http-message.ts';
import { createSameOriginCheck } from '../../server/http/cors.ts';
import { defaultLimits, withRetryAfter } from '../../server/limits/limits.ts';
import { ExchangeLimits } from '../../server/node/exchange-limits.ts';
import { listen, type ServeOptions, type RunningServer } from '../../server/node/listen.ts';
import { rejectBody } from '../../server/node/request-body.ts';
import type { Action, ActionCallOptions, Bridge } from '../action-types.ts';
import { type ActionCall, parseActionCall } from './parse-action-call.ts';
import { ActionEventStream } from './action-event-stream.ts';
import { buildOpenApi, actionPath } from './open-api.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Options of {@link serveActions}. */
export interface ServeActionsOptions
  extends Pick<
    ServeOptions,
    | 'port'
    | 'host'
    | 'tls'
    | 'auth'
    | 'limits'
    | 'maxBodyBytes'
    | 'maxStreams'
    | 'stallTimeout'
    | 'heartbeat'
    | 'basePath'
    | 'publicUrl'
    | 'allowedHosts'
    | 'trustProxy'
  > {
  /** Title of the OpenAPI document. */
  title?: string;
  /** Whether the task is canceled or continues when the client disconnects. @defaultValue `cancel` */
  onDisconnect?: 'cancel' | 'detach';
}

/**
 * Serves the actions of a bridge: `GET /actions`, `GET /actions/{agent}/{skill}`, `POST …:invoke` and
 * `GET /openapi.json`.
 */
export function serveActions(bridge: Bridge, options: ServeActionsOptions = {}): Promise<RunningServer> {
  const handler = new ActionHttpHandler(bridge, options);
  return listen(
    {
      listener: (request, response) => handler.receive(request, response),
      contexts: () => [],
      metrics: undefined,
    },
    options,
  );
}

class ActionHttpHandler {
  readonly #bridge: Bridge;
  readonly #options: ServeActionsOptions;
  readonly #basePath: string;
  readonly #authenticators: AuthenticatorChain | undefined;
  readonly #limits: ExchangeLimits;
  /** Undefined if all clients are authenticated. */
  readonly #sameOrigin: SameOriginCheck | undefined;

  constructor(bridge: Bridge, options: ServeActionsOptions) {
    this.#bridge = bridge;
    this.#options = options;
    this.#basePath = stripTrailing(options.basePath ?? '', '/');
    this.#limits = new ExchangeLimits(options);
    this.#authenticators =
      options.auth &&
      new AuthenticatorChain(options.auth, (request) =>
        this.#limits.clients.countInvalidCredentials(request),
      );
    this.#sameOrigin = createSameOriginCheck(options);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    void this.#handle(request, response).catch((thrown: unknown) => {
      const error = A2AError.from(thrown);
      const errorResponse = withRetryAfter(withChallenges(toErrorResponse(error), error), error);
      if (response.destroyed || response.headersSent) return;
      rejectBody(errorResponse, request, response, this.#limits.maxBodyBytes);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = this.#sameOrigin?.problem(request.headers, request.socket);
    if (problem !== undefined) throw new A2AError('PERMISSION_DENIED', problem);
    const serverRequest = this.#limits.admit(request, response);
    const authenticated = this.#authenticators
      ? await this.#authenticators.authenticate(serverRequest)
      : serverRequest;
    const path = this.#relativePath(serverRequest);
    if (request.method === 'GET' || request.method === 'HEAD') {
      this.#limits.send(authenticated, response, this.#get(path, serverRequest));
      return;
    }
    const name = this.#invokedAction(path);
    if (request.method !== 'POST' || name === undefined) {
      throw new A2AError('METHOD_NOT_FOUND', 'Method not allowed for this path');
    }
    if (!isJsonMediaType(singleHeader(serverRequest.headers, 'content-type'))) {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'The body must be application/json');
    }
    const wantsEvents = (singleHeader(serverRequest.headers, 'accept') ?? '').includes('text/event-stream');
    const { clients } = this.#limits;
    const usage = wantsEvents ? clients.acquireStream(authenticated) : clients.acquireRequest(authenticated);
    try {
      const body = await this.#limits.readBody(authenticated, request, response);
      const call = parseActionCall(body, this.#options.limits);
      await this.#invoke(name, call, { authenticated, response, wantsEvents });
    } finally {
      if (usage && wantsEvents) clients.releaseStream(usage);
      else if (usage) clients.releaseRequest(usage);
    }
  }

  async #invoke(
    name: string,
    { parameters, sessionId, userId, waitBudget }: ActionCall,
    exchange: { authenticated: HttpServerRequest; response: ServerResponse; wantsEvents: boolean },
  ): Promise<void> {
    const { authenticated, response, wantsEvents } = exchange;
    if (this.#authenticators && userId !== undefined) {
      throw new A2AError('INVALID_PARAMS', 'userId must not be set: it is taken from the credentials');
    }
    const user = this.#authenticators ? toUserId(authenticated.authentication?.principal) : userId;
    const disconnected = new AbortController();
    if (this.#options.onDisconnect !== 'detach') authenticated.onDisconnect(() => disconnected.abort());
    const { signal } = disconnected;
    const trace = authenticated.headers;
    const callOptions: ActionCallOptions = { sessionId, userId: user, waitBudget, signal, trace };
    if (!wantsEvents) {
      const result = await this.#bridge.invoke(name, parameters, callOptions);
      this.#limits.send(authenticated, response, jsonResponse(200, JSON.stringify(result)));
      return;
    }
    const stream = new ActionEventStream(response, this.#limits.openOutput(authenticated, response));
    const { heartbeat = defaultLimits.heartbeat } = this.#options;
    const timer = heartbeat > 0 ? setInterval(() => stream.sendHeartbeat(), heartbeat) : undefined;
    const onProgress: ActionCallOptions['onProgress'] = (progress) =>
      stream.sendProgress('progress', progress);
    try {
      stream.end('result', await this.#bridge.invoke(name, parameters, { ...callOptions, onProgress }));
    } finally {
      clearInterval(timer);
    }
  }

  #get(path: string, serverRequest: HttpServerRequest): HttpServerResponse {
    const actions = this.#bridge.actions();
    if (path === '/actions')
      return jsonResponse(200, JSON.stringify({ description: this.#bridge.describe(), actions }));
    if (path === '/openapi.json') {
      const { title, auth, publicUrl } = this.#options;
      const document = buildOpenApi(actions, {
        ...(title !== undefined && { title }),
        ...(auth && { auth: auth.authenticators, isAuthOptional: auth.allowAnonymous ?? false }),
        url:
          publicUrl ??
          `${serverRequest.isSecure ? 'https' : 'http'}://${singleHeader(serverRequest.headers, 'host') ?? ''}${this.#basePath}`,
      });
      return jsonResponse(200, JSON.stringify(document));
    }
    return jsonResponse(200, JSON.stringify(this.#actionAt(path)));
  }

  #actionAt(path: string): Action {
    const action = this.#bridge.actions().find((each) => isSamePath(path, actionPath(each)));
    if (!action) throw new A2AError('NOT_FOUND', 'Action not found');
    return action;
  }

  /** Returns the name of the action that a path invokes. */
  #invokedAction(path: string): string | undefined {
    const actionUrl = path.replace(/(:|%3A)invoke$/i, '');
    return actionUrl === path ? undefined : this.#actionAt(actionUrl).name;
  }

  #relativePath({ path }: HttpServerRequest): string {
    if (this.#basePath === '') return path;
    if (!path.startsWith(`${this.#basePath}/`)) throw new A2AError('NOT_FOUND', 'Path not found');
    return path.slice(this.#basePath.length);
  }
}

/** Ignores unnecessary percent-encoding in the requested path. */
function isSamePath(requested: string, path: string): boolean {
  if (requested === path) return true;
  try {
    const segments = requested.split('/').map(decodeURIComponent);
    return segments.map(encodeURIComponent).join('/') === path;
  } catch {
    return false;
  }
}

/** Returns a user id that is unique across issuers. */
function toUserId(principal: Principal | undefined): string {
  const { issuer = null, id = null } = principal ?? {};
  return issuer === null && id !== null && !id.startsWith('[') ? id : JSON.stringify([issuer, id]);
}

function toErrorResponse({ reason, message }: A2AError): HttpServerResponse {
  const { http } = errorTable[reason];
  const status = reason === 'CONTENT_TYPE_NOT_SUPPORTED' ? 415 : http;
  return jsonResponse(status, JSON.stringify({ error: { reason, message } }));
}
