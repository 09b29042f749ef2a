import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../protocol/agent.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import { isLoopbackHost } from '../../server/limits/client-address.ts';
import { AuthenticatorChain } from '../../server/auth/authenticator-chain.ts';
import { withChallenges } from '../../server/auth/auth-error.ts';
import { headerCountError } from '../../server/node/connection-limits.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from '../../server/http/http-message.ts';
import { ClientLimiter } from '../../server/limits/client-limiter.ts';
import { defaultLimits, withRetryAfter } from '../../server/limits/limits.ts';
import { listen, type ServeOptions, type RunningServer } from '../../server/node/listen.ts';
import { NodeServerRequest, readBody, rejectBody } from '../../server/node/serve.ts';
import type { ActionCallOptions, Bridge } from '../action-types.ts';
import { type ActionCall, parseActionCall } from './parse-action-call.ts';
import { ActionEventStream } from './action-event-stream.ts';
import { buildOpenApi, actionPath } from './open-api.ts';

/** How actions are served over HTTP. */
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
    | 'heartbeat'
    | 'basePath'
    | 'publicUrl'
  > {
  /** What the OpenAPI document is called. */
  title?: string;
  /**
   * What happens to the task of a caller that hangs up: it is canceled, or goes on.
   * @defaultValue `cancel`
   */
  onDisconnect?: 'cancel' | 'detach';
}

/**
 * Serves the actions of a bridge: `GET /actions`, `GET /actions/{agent}/{skill}`, `POST …:invoke` and
 * `GET /openapi.json`.
 */
export function serveActions(bridge: Bridge, options: ServeActionsOptions = {}): Promise<RunningServer> {
  const face = new ActionHttpHandler(bridge, options);
  return listen(
    {
      listener: (request, response) => face.receive(request, response),
      contexts: () => [],
      metrics: undefined,
    },
    options,
  );
}

/** Shows a bridge over HTTP. */
class ActionHttpHandler {
  readonly #bridge: Bridge;
  readonly #options: ServeActionsOptions;
  readonly #basePath: string;
  readonly #gate: AuthenticatorChain | undefined;
  readonly #guard: ClientLimiter;

  constructor(bridge: Bridge, options: ServeActionsOptions) {
    this.#bridge = bridge;
    this.#options = options;
    this.#basePath = (options.basePath ?? '').replace(/\/+$/, '');
    this.#gate = options.auth && new AuthenticatorChain(options.auth);
    this.#guard = new ClientLimiter(options);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    void this.#answer(request, response).catch((thrown: unknown) => {
      const error = A2AError.from(thrown);
      const reply = withRetryAfter(withChallenges(faultReply(error), error), error);
      if (response.destroyed || response.headersSent) return;
      rejectBody(reply, request, response, this.#options.maxBodyBytes ?? defaultLimits.maxBodyBytes);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tooMany = headerCountError(request, this.#options.limits ?? {});
    if (tooMany) throw tooMany;
    const exchange = new NodeServerRequest(request, response, '');
    this.#checkHost(exchange);
    const admitted = this.#gate ? await this.#gate.authenticate(exchange) : exchange;
    const path = this.#pathOf(exchange);
    if (request.method === 'GET' || request.method === 'HEAD') {
      send(response, this.#show(path, exchange));
      return;
    }
    const name = this.#invoked(path);
    if (request.method !== 'POST' || name === undefined) {
      throw new A2AError('METHOD_NOT_FOUND', 'There is nothing here that takes this method');
    }
    const type = singleHeader(exchange.headers, 'content-type') ?? '';
    // A page of another origin could send anything else without asking first.
    if (!/^application\/json\b/i.test(type)) {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'The body must be application/json');
    }
    const wantsEvents = (singleHeader(exchange.headers, 'accept') ?? '').includes('text/event-stream');
    const visitor = wantsEvents ? this.#guard.acquireStream(admitted) : this.#guard.acquireRequest(admitted);
    try {
      const body = await bodyOf(request, this.#options.maxBodyBytes ?? defaultLimits.maxBodyBytes);
      const call = parseActionCall(body, this.#options.limits?.jsonDepth);
      await this.#invoke(name, call, { admitted, response, wantsEvents });
    } finally {
      if (visitor && wantsEvents) this.#guard.releaseStream(visitor);
      else if (visitor) this.#guard.releaseRequest(visitor);
    }
  }

  async #invoke(
    name: string,
    { parameters, sessionId, userId, waitBudget }: ActionCall,
    {
      admitted,
      response,
      wantsEvents,
    }: { admitted: HttpServerRequest; response: ServerResponse; wantsEvents: boolean },
  ): Promise<void> {
    if (this.#gate && userId !== undefined) {
      throw new A2AError('INVALID_PARAMS', 'userId is who the caller proved to be, and cannot be said');
    }
    const user = this.#gate ? userOf(admitted.authentication?.principal) : userId;
    const gone = new AbortController();
    if (this.#options.onDisconnect !== 'detach') admitted.onDisconnect(() => gone.abort());
    const meta: ActionCallOptions = { sessionId, userId: user, waitBudget, signal: gone.signal };
    if (!wantsEvents) {
      send(response, jsonResponse(200, JSON.stringify(await this.#bridge.invoke(name, parameters, meta))));
      return;
    }
    const stream = new ActionEventStream(response);
    const { heartbeat = 15_000 } = this.#options;
    const beating = heartbeat > 0 ? setInterval(() => stream.sendHeartbeat(), heartbeat) : undefined;
    const onProgress: ActionCallOptions['onProgress'] = (progress) =>
      stream.sendProgress('progress', progress);
    try {
      stream.end('result', await this.#bridge.invoke(name, parameters, { ...meta, onProgress }));
    } finally {
      clearInterval(beating);
    }
  }

  #show(path: string, exchange: HttpServerRequest): HttpServerResponse {
    const actions = this.#bridge.actions();
    if (path === '/actions') return jsonResponse(200, JSON.stringify({ actions }));
    if (path === '/openapi.json') {
      const { title, auth, publicUrl } = this.#options;
      const document = buildOpenApi(actions, {
        ...(title !== undefined && { title }),
        ...(auth && { auth: auth.authenticators, isAuthOptional: auth.allowAnonymous ?? false }),
        url:
          publicUrl ??
          `${exchange.isSecure ? 'https' : 'http'}://${singleHeader(exchange.headers, 'host') ?? ''}${this.#basePath}`,
      });
      return jsonResponse(200, JSON.stringify(document));
    }
    const action = actions.find((each) => isSame(path, actionPath(each)));
    if (!action) throw new A2AError('NOT_FOUND', 'There is no such action');
    return jsonResponse(200, JSON.stringify(action));
  }

  /** The name of the action that a path calls. */
  #invoked(path: string): string | undefined {
    const asked = path.replace(/(:|%3A)invoke$/i, '');
    if (asked === path) return undefined;
    const action = this.#bridge.actions().find((each) => isSame(asked, actionPath(each)));
    if (!action) throw new A2AError('NOT_FOUND', 'There is no such action');
    return action.name;
  }

  #pathOf({ path }: HttpServerRequest): string {
    if (this.#basePath === '') return path;
    if (!path.startsWith(`${this.#basePath}/`)) throw new A2AError('NOT_FOUND', 'There is nothing here');
    return path.slice(this.#basePath.length);
  }

  /**
   * Where nobody has to prove anything and only this machine can call, a page in a browser of this machine must not
   * reach the actions under a name of its own.
   */
  #checkHost({ headers }: HttpServerRequest): void {
    const { host = '127.0.0.1' } = this.#options;
    if (this.#gate || !isLoopbackHost(host)) return;
    const url = `http://${singleHeader(headers, 'host') ?? ''}`;
    if (!URL.canParse(url) || !isLoopbackHost(new URL(url).hostname)) {
      throw new A2AError('PERMISSION_DENIED', 'The actions are not reached under this host name');
    }
  }
}

/** Paths may be encoded more than they need to be. */
function isSame(asked: string, path: string): boolean {
  if (asked === path) return true;
  try {
    const segments = asked.split('/').map(decodeURIComponent);
    return segments.map(encodeURIComponent).join('/') === path;
  } catch {
    return false;
  }
}

function bodyOf(request: IncomingMessage, maxBodyBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    request.on('error', () => reject(new A2AError('CANCELED')));
    readBody(request, maxBodyBytes, (body) => (typeof body === 'string' ? resolve(body) : reject(body)));
  });
}

/** One text for each caller; two issuers may each know an `alice`. */
function userOf(principal: Principal | undefined): string {
  const { issuer = null, id = null } = principal ?? {};
  return issuer === null && id !== null && !id.startsWith('[') ? id : JSON.stringify([issuer, id]);
}

function faultReply({ reason, message }: A2AError): HttpServerResponse {
  const { http } = errorTable[reason];
  const status = reason === 'CONTENT_TYPE_NOT_SUPPORTED' ? 415 : http;
  return jsonResponse(status, JSON.stringify({ error: { reason, message } }));
}

function send(response: ServerResponse, { status, headers, body }: HttpServerResponse): void {
  if (response.destroyed || response.headersSent) return;
  const text = typeof body === 'string' ? body : '';
  response.writeHead(status, [...headers, 'Content-Length', String(Buffer.byteLength(text))]);
  response.end(text);
}
