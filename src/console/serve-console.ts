import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpClient } from '../client/http/http-client.ts';
import { withUserAgent } from '../client/http/with-user-agent.ts';
import { undiciHttpClient } from '../client/http/undici-driver.ts';
import { packageVersion } from '../primitives/node/package-version.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import { isLoopbackHost } from '../primitives/loopback.ts';
import type { HttpServerRequest } from '../server/http/http-message.ts';
import { withRetryAfter } from '../server/limits/limits.ts';
import { listen } from '../server/node/listen.ts';
import { type ExchangeLimitOptions, ExchangeLimits } from '../server/node/exchange-limits.ts';
import { rejectBody } from '../server/node/request-body.ts';
import { agentNameFromUrl, consoleProbeProduct } from '../tap/participants.ts';
import { TrafficLog } from '../tap/traffic-log.ts';
import { tapHttpClient } from '../tap/recorders/tap-http-client.ts';
import { type ConsoleOrigin, foreignRequestReason } from './request-guard.ts';
import { AgentRegistry, type InitialAgent } from './agents/agent-registry.ts';
import type { ConsoleInfo } from './console-api.ts';
import { ComposedRequestSender } from './requests/composed-request-sender.ts';
import { cardRoutes } from './routes/card-routes.ts';
import { catalogRoutes } from './routes/catalog-routes.ts';
import { JsonEventStream } from './json-event-stream.ts';
import { ConformanceRuns } from './conformance/conformance-runs.ts';
import { conformanceRoutes } from './routes/conformance-routes.ts';
import { errorStatus, invalidToken, noStore, toErrorBody, toHttpResponse } from './api-responses.ts';
import { LoadRuns } from './load/load-runs.ts';
import { LoadMonitor } from './routes/load-routes.ts';
import { loginRoutes } from './routes/login-routes.ts';
import { loadRunRoutes } from './routes/load-run-routes.ts';
import { securityHeaders, StaticPage } from './static-page.ts';
import { holderRoutes } from './routes/holder-routes.ts';
import { pushRoutes } from './routes/push-routes.ts';
import { matchRoute, type ApiRoutes } from './api-routes.ts';
import { composedRequestRoutes } from './routes/composed-request-routes.ts';
import { chatRoutes } from './routes/chat-routes.ts';
import { conversationRoutes } from './routes/conversation-routes.ts';
import { recordingRoutes } from './routes/recording-routes.ts';
import { trafficRoutes } from './routes/traffic-routes.ts';
import { ConsoleSessions } from './sessions/console-sessions.ts';
import { TestTraffic } from './test-traffic.ts';

/** Options of {@link serveConsole}. All options are optional. */
export interface ConsoleOptions extends Readonly<Pick<ExchangeLimitOptions, 'limits' | 'stallTimeout'>> {
  /** Initial agents; the user can add more. */
  readonly agents?: readonly InitialAgent[];
  /** Traffic log to display. @defaultValue a new log with the requests of the console */
  readonly trafficLog?: TrafficLog;
  /**
   * Records the requests of the console. Set it to false if the agents or their gateway are already tapped; otherwise
   * each request is recorded twice.
   * @defaultValue true if `trafficLog` is not set
   */
  readonly recordOwnRequests?: boolean;
  /** Server metrics for the load view. */
  readonly metrics?: Metrics | readonly Metrics[];
  /** Task stores with push deliveries; a function if they change. */
  readonly taskStore?: TaskStore | (() => readonly TaskStore[]);
  /**
   * Folder in which conversations, recordings, conformance reports and added agents are kept. Each running console uses a subfolder of its
   * own. Credentials are not stored.
   * @defaultValue nothing is kept
   */
  readonly sessions?: string;
  /** @defaultValue 0, any free port */
  readonly port?: number;
  /** Loopback address to listen on. @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** Access token of the page, at least 16 characters. @defaultValue 128 random bits */
  readonly token?: string;
  readonly log?: LogSink;
  /** @defaultValue 64 */
  readonly maxAgents?: number;
  /** Maximum number of open streams. @defaultValue 64 */
  readonly maxStreams?: number;
  /** Maximum size of a request body in bytes. @defaultValue 64 MiB, the capacity of a traffic log */
  readonly maxBodyBytes?: number;
}

/** A running console. */
export interface RunningConsole extends AsyncDisposable {
  /** URL of the page with the access token. Keep it secret. */
  readonly url: string;
  /** URL without the token. */
  readonly origin: string;
  readonly token: string;
  /** Replaces the initial agents. Agents added by the user stay. */
  setAgents(agents: readonly InitialAgent[]): Promise<void>;
  /** Stops within half a second, also with open streams. */
  stop(): Promise<void>;
}

/**
 * Serves the console page and its API. It listens on a loopback address only, and its API accepts only requests of its
 * own page with the token.
 */
export async function serveConsole(options: ConsoleOptions = {}): Promise<RunningConsole> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(16).toString('base64url') } = options;
  checkLoopback(host);
  if (!/^[\w.~-]{16,}$/.test(token))
    throw invalidField('token', 'must have at least 16 characters of A-Z a-z 0-9 . _ ~ -');
  const page = new StaticPage();
  const trafficLog = options.trafficLog ?? new TrafficLog();
  const sessions = await ConsoleSessions.open(options.sessions, trafficLog, options.log);
  const consoleServer = new ConsoleServer(options, { token, page, trafficLog, sessions });
  const server = await listen(
    {
      listener: (request, response) => consoleServer.handle(request, response),
      contexts: () => [],
      metrics: undefined,
    },
    { ...(options.limits && { limits: options.limits }), host, port },
  ).catch(async (thrown: unknown) => {
    await consoleServer.close();
    throw thrown;
  });
  const origin = server.url;
  consoleServer.origin = { origin, port: server.port };
  const stop = async (): Promise<void> => {
    const closing = consoleServer.close();
    await server.stop(300);
    await closing;
  };
  const setAgents = (agents: readonly InitialAgent[]): Promise<void> => consoleServer.setAgents(agents);
  const url = `${origin}/?token=${token}`;
  return { url, origin, token, setAgents, stop, [Symbol.asyncDispose]: stop };
}

function listTaskStores({ taskStore }: ConsoleOptions): () => readonly TaskStore[] {
  if (typeof taskStore === 'function') return taskStore;
  return () => (taskStore ? [taskStore] : []);
}

function checkLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new A2AError('INVALID_PARAMS', `The console cannot listen on ${host}`, {
    hint: 'The console has no user accounts, so it must not be reachable from other machines. Keep 127.0.0.1 and use a tunnel, such as ssh -L.',
  });
}

/** Collaborators of {@link ConsoleServer}. */
interface ConsoleServerContext {
  readonly token: string;
  readonly page: StaticPage;
  readonly trafficLog: TrafficLog;
  readonly sessions: ConsoleSessions;
}

/** Handles the requests of the page. */
class ConsoleServer {
  origin: ConsoleOrigin = { origin: '', port: -1 };
  readonly #page: StaticPage;
  readonly #token: string;
  readonly #limits: ExchangeLimits;
  readonly #routes: ApiRoutes;
  readonly #agents: AgentRegistry;
  readonly #load: LoadMonitor;
  readonly #loadRuns: LoadRuns;
  readonly #testTraffic: TestTraffic;
  readonly #conformanceRuns: ConformanceRuns;
  readonly #http: HttpClient;
  readonly #sessions: ConsoleSessions;
  readonly #log: LogSink | undefined;
  readonly #maxStreams: number;
  readonly #closing = new AbortController();
  #streams = 0;

  constructor(options: ConsoleOptions, { token, page, trafficLog, sessions }: ConsoleServerContext) {
    const { agents = [], maxAgents = 64, maxStreams = 64, maxBodyBytes = 64 * 1_024 * 1_024 } = options;
    this.#page = page;
    this.#token = token;
    this.#sessions = sessions;
    this.#limits = new ExchangeLimits({ ...options, maxBodyBytes });
    this.#log = options.log;
    this.#maxStreams = maxStreams;
    const http = undiciHttpClient({ connectTimeout: 5_000, maxConnections: 64 });
    this.#http = http;
    const recordsOwnRequests = options.recordOwnRequests ?? options.trafficLog === undefined;
    const to = (origin: string): string => this.#agents.nameAt(origin) ?? agentNameFromUrl(origin);
    const userHttp = withUserAgent(http, 'dragoman-console');
    const recordedHttp = recordsOwnRequests
      ? tapHttpClient(userHttp, trafficLog, { from: 'console', to })
      : userHttp;
    const quietHttp = withUserAgent(http, consoleProbeProduct);
    const registry = new AgentRegistry(agents, maxAgents, {
      http: recordedHttp,
      quietHttp,
      added: sessions.added,
      redactor: sessions.redactor,
      onChange: (urls) => sessions.keepAgents(urls),
    });
    this.#agents = registry;
    const ownLog = recordsOwnRequests ? trafficLog : undefined;
    const sender = new ComposedRequestSender({ http, trafficLog: ownLog, nameAt: to });
    const testTraffic = new TestTraffic(trafficLog);
    this.#testTraffic = testTraffic;
    this.#loadRuns = new LoadRuns((id) => testTraffic.addTask(id));
    this.#load = new LoadMonitor([options.metrics ?? []].flat(), trafficLog, testTraffic);
    const taskStores = listTaskStores(options);
    const info = { name: 'dragoman' as const, version: packageVersion() };
    const { reports, prompts } = sessions;
    const { version } = info;
    const runs = new ConformanceRuns({ http, version, testTraffic, reports, prompts });
    this.#conformanceRuns = runs;
    this.#routes = {
      'GET info': () => {
        const stores = taskStores();
        const hasReplicas = stores.some(({ replica }) => replica);
        const current: ConsoleInfo = {
          ...info,
          hasPushDeliveries: stores.length > 0,
          hasReplicas,
          ...sessions.info,
        };
        return { json: current };
      },
      ...registry.routes,
      ...cardRoutes(registry, http),
      ...catalogRoutes(registry, quietHttp),
      ...chatRoutes(registry, sessions.conversations, testTraffic),
      ...composedRequestRoutes(registry, sender),
      ...loginRoutes(registry),
      ...conversationRoutes(registry, sessions.conversations),
      ...trafficRoutes(trafficLog, sessions.recordings),
      ...recordingRoutes(sessions.recordings),
      ...conformanceRoutes({ agents: registry, runs, reports, prompts }),
      ...this.#load.routes,
      ...loadRunRoutes(registry, this.#loadRuns),
      ...pushRoutes(taskStores),
      ...holderRoutes(taskStores),
    };
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', ...rest] = (request.url ?? '/').split('?');
    const query = new URLSearchParams(rest.join('?'));
    const isApi = path === '/api' || path.startsWith('/api/');
    const rejection = foreignRequestReason(request.headers, isApi, this.origin);
    if (rejection !== undefined) {
      this.#reject(request, response, new A2AError('PERMISSION_DENIED', rejection), 403);
      return;
    }
    if (!isApi) {
      void this.#servePage(request, response, path);
      return;
    }
    void this.#serveApi(path.slice('/api/'.length), query, request, response);
  }

  setAgents(agents: readonly InitialAgent[]): Promise<void> {
    return this.#agents.setInitialAgents(agents);
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    this.#closing.abort();
    this.#load.close();
    this.#testTraffic.close();
    await Promise.all([this.#loadRuns.stop(), this.#conformanceRuns.cancel()]);
    await this.#agents.close();
    await this.#http.close();
  }

  async #servePage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      this.#reject(request, response, new A2AError('METHOD_NOT_ALLOWED'), 405);
      return;
    }
    const file = await this.#page.file(path);
    if (!file) {
      this.#reject(request, response, new A2AError('NOT_FOUND'), 404);
      return;
    }
    const length = ['Content-Length', String(file.bytes.length)];
    response.writeHead(200, [...securityHeaders, ...file.headers, ...length]);
    response.end(method === 'HEAD' ? undefined : file.bytes);
  }

  /** Reads the body only after authentication. */
  async #serveApi(
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const admitted = this.#limits.admit(request, response);
      if (!this.#limits.hasToken(admitted, this.#token)) {
        this.#reject(request, response, invalidToken(), 401);
        return;
      }
      const body = await this.#limits.readBody(admitted, request, response);
      await this.#callApi({ path, query, body }, admitted, response);
    } catch (thrown) {
      this.#reject(request, response, thrown);
    }
  }

  async #callApi(
    { path, query, body }: { path: string; query: URLSearchParams; body: string },
    request: HttpServerRequest,
    response: ServerResponse,
  ): Promise<void> {
    const abort = new AbortController();
    const onClose = (): void => abort.abort();
    response.on('close', onClose);
    this.#closing.signal.addEventListener('abort', onClose);
    try {
      const { handle, params } = matchRoute(this.#routes, request.method, path);
      const result = await handle({ query, body, signal: abort.signal }, ...params);
      if (!('stream' in result)) this.#limits.send(request, response, toHttpResponse(result));
      else {
        const output = this.#limits.openOutput(request, response);
        await this.#stream(result.stream, response, new JsonEventStream(response, output, abort.signal));
      }
    } finally {
      this.#closing.signal.removeEventListener('abort', onClose);
    }
  }

  async #stream(
    work: (stream: JsonEventStream) => Promise<void>,
    response: ServerResponse,
    stream: JsonEventStream,
  ): Promise<void> {
    if (this.#streams >= this.#maxStreams)
      throw new A2AError('RESOURCE_EXHAUSTED', `Too many open streams: the limit is ${this.#maxStreams}`, {
        hint: 'Close some tabs that show the console page.',
      });
    this.#streams++;
    try {
      response.writeHead(200, [...securityHeaders, ...noStore, 'Content-Type', 'text/event-stream']);
      response.flushHeaders();
      try {
        await work(stream);
      } catch (thrown) {
        this.#logInternalError(thrown);
        await stream.send({ kind: 'error', ...toErrorBody(thrown) });
      }
      response.end();
    } finally {
      this.#streams--;
    }
  }

  #reject(request: IncomingMessage, response: ServerResponse, thrown: unknown, status?: number): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    this.#logInternalError(thrown);
    const headers = [...securityHeaders, ...noStore, 'Content-Type', 'application/json'];
    const body = JSON.stringify({ error: toErrorBody(thrown) });
    const rejected = { status: status ?? errorStatus(thrown), headers, body };
    rejectBody(withRetryAfter(rejected, A2AError.from(thrown)), request, response, this.#limits.maxBodyBytes);
  }

  /** Logs unexpected errors; their cause is not sent to the page. */
  #logInternalError(thrown: unknown): void {
    const { reason, cause } = A2AError.from(thrown);
    if (reason === 'INTERNAL_ERROR')
      this.#log?.({ level: 'error', message: 'Console request failed', error: cause ?? thrown });
  }
}
