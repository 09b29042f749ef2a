import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpClient } from '../client/http/http-client.ts';
import { withUserAgent } from '../client/http/with-user-agent.ts';
import { undiciHttpClient } from '../client/http/undici-driver.ts';
import { packageVersion } from '../documents/package-version.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { A2AError, errorTable, invalidField } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import { listen } from '../server/node/listen.ts';
import { readBody, rejectBody } from '../server/node/serve.ts';
import { agentNameFromUrl, consoleProbeProduct } from '../tap/participants.ts';
import { TrafficLog } from '../tap/traffic-log.ts';
import { tapHttpClient } from '../tap/recorders/tap-http-client.ts';
import { type ConsoleOrigin, foreignRequestReason, TokenCheck } from './request-guard.ts';
import { AgentRegistry, type InitialAgent } from './agents/agent-registry.ts';
import type { ConsoleInfo } from './console-api.ts';
import { cardRoutes } from './routes/card-routes.ts';
import { JsonEventStream } from './json-event-stream.ts';
import { conformanceRoutes } from './routes/conformance-routes.ts';
import { errorText } from './agents/console-agent.ts';
import { LoadMonitor } from './routes/load-routes.ts';
import { securityHeaders, StaticPage } from './static-page.ts';
import { pushRoutes } from './routes/push-routes.ts';
import { type ApiResponse, matchRoute, type ApiRoutes } from './api-routes.ts';
import { chatRoutes } from './routes/chat-routes.ts';
import { trafficRoutes } from './routes/traffic-routes.ts';

/** What a console shows, and where. */
export interface ConsoleOptions {
  /** The agents that it begins with; people may add more. */
  readonly agents?: readonly InitialAgent[];
  /** What is seen on wires. @defaultValue a tape of its own, with what people say and hear at the console */
  readonly trafficLog?: TrafficLog;
  /**
   * Records what people say and hear at the console. Leave it out where the agents, or the gateway before them, are
   * tapped already, or everything is seen twice.
   * @defaultValue true where no tape is given
   */
  readonly recordOwnRequests?: boolean;
  /** Counts what is going on. */
  readonly metrics?: Metrics | readonly Metrics[];
  /** Where push notifications that did not arrive are kept; a function where agents come and go. */
  readonly taskStore?: TaskStore | (() => readonly TaskStore[]);
  /** @defaultValue 0, any free port */
  readonly port?: number;
  /** An address of this machine that nobody else reaches. @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** What the page proves itself with. @defaultValue 128 random bits */
  readonly token?: string;
  readonly log?: LogSink;
  /** @defaultValue 64 */
  readonly maxAgents?: number;
  /** How many streams may be open at once. @defaultValue 64 */
  readonly maxStreams?: number;
  /** How large a request may be. @defaultValue 64 MiB, which is what a tape may hold */
  readonly maxBodyBytes?: number;
}

/** A console that is being served. */
export interface RunningConsole extends AsyncDisposable {
  /** The address to open, with the token: whoever has it can do what the console can. */
  readonly url: string;
  /** The address without the token. */
  readonly origin: string;
  readonly token: string;
  /** Shows other agents than those it began with; what people added stays. */
  setAgents(agents: readonly InitialAgent[]): Promise<void>;
  /** Stops within half a second, whatever is open. */
  stop(): Promise<void>;
}

/**
 * Serves the console: its page, and the API behind it. Only this machine reaches it, only its own page may use it, and
 * only with the token.
 */
export async function serveConsole(options: ConsoleOptions = {}): Promise<RunningConsole> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(16).toString('base64url') } = options;
  expectLoopback(host);
  if (!/^[\w.~-]{16,}$/.test(token))
    throw invalidField('token', 'must have at least 16 letters, digits and . _ ~ -');
  const desk = new ConsoleServer(options, token, new StaticPage());
  const server = await listen(
    {
      listener: (request, response) => desk.receive(request, response),
      contexts: () => [],
      metrics: undefined,
    },
    { host, port },
  );
  const origin = server.url;
  desk.door = { origin, port: server.port };
  const stop = async (): Promise<void> => {
    const closing = desk.close();
    await server.stop(300);
    await closing;
  };
  const setAgents = (agents: readonly InitialAgent[]): Promise<void> => desk.setAgents(agents);
  const url = `${origin}/?token=${token}`;
  return { url, origin, token, setAgents, stop, [Symbol.asyncDispose]: stop };
}

function ledgersOf({ taskStore: ledger }: ConsoleOptions): () => readonly TaskStore[] {
  if (typeof ledger === 'function') return ledger;
  return () => (ledger ? [ledger] : []);
}

function expectLoopback(host: string): void {
  if (['127.0.0.1', 'localhost', '::1'].includes(host)) return;
  throw new A2AError('INVALID_PARAMS', `The console is not shown at ${host}`, {
    hint: 'Whoever reaches it can speak for you. Leave it at 127.0.0.1, and reach it from elsewhere through a tunnel, such as ssh -L.',
  });
}

/** Takes requests in, and answers those that come from the page. */
class ConsoleServer {
  door: ConsoleOrigin = { origin: '', port: -1 };
  readonly #page: StaticPage;
  readonly #turnstile: TokenCheck;
  readonly #routes: ApiRoutes;
  readonly #book: AgentRegistry;
  readonly #load: LoadMonitor;
  readonly #http: HttpClient;
  readonly #log: LogSink | undefined;
  readonly #maxBodyBytes: number;
  readonly #maxStreams: number;
  readonly #ending = new AbortController();
  #streams = 0;

  constructor(options: ConsoleOptions, token: string, page: StaticPage) {
    const { agents = [], maxAgents = 64, maxStreams = 64, maxBodyBytes = 64 * 1_024 * 1_024 } = options;
    this.#page = page;
    this.#turnstile = new TokenCheck(token);
    this.#log = options.log;
    this.#maxBodyBytes = maxBodyBytes;
    this.#maxStreams = maxStreams;
    const http = undiciHttpClient({ connectTimeout: 5_000, maxConnections: 64 });
    this.#http = http;
    const tape = options.trafficLog ?? new TrafficLog();
    const isRecorded = options.recordOwnRequests ?? options.trafficLog === undefined;
    const to = (origin: string): string => this.#book.nameAt(origin) ?? agentNameFromUrl(origin);
    const named = withUserAgent(http, 'dragoman-console');
    const talking = isRecorded ? tapHttpClient(named, tape, { from: 'console', to }) : named;
    const quietHttp = withUserAgent(http, consoleProbeProduct);
    const book = new AgentRegistry(agents, maxAgents, { http: talking, quietHttp });
    this.#book = book;
    this.#load = new LoadMonitor([options.metrics ?? []].flat(), tape);
    const about: ConsoleInfo = {
      name: 'dragoman',
      version: packageVersion(),
      hasPushDeliveries: options.taskStore !== undefined,
    };
    this.#routes = {
      'GET info': () => ({ json: about }),
      ...book.routes,
      ...cardRoutes(book, http),
      ...chatRoutes(book),
      ...trafficRoutes(tape),
      ...conformanceRoutes({ book, http, version: about.version }),
      ...this.#load.routes,
      ...pushRoutes(ledgersOf(options)),
    };
  }

  /** Answers one request. */
  receive(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', ...rest] = (request.url ?? '/').split('?');
    const query = new URLSearchParams(rest.join('?'));
    const isApi = path === '/api' || path.startsWith('/api/');
    const strange = foreignRequestReason(request.headers, isApi, this.door);
    if (strange !== undefined) {
      this.#refuse(request, response, new A2AError('PERMISSION_DENIED', strange), 403);
      return;
    }
    if (!isApi) {
      void this.#showPage(request, response, path);
      return;
    }
    try {
      this.#turnstile.check(request.headers);
    } catch (thrown) {
      this.#refuse(request, response, thrown, 401);
      return;
    }
    readBody(request, this.#maxBodyBytes, (body) => {
      if (typeof body === 'string')
        void this.#answer(path.slice('/api/'.length), query, body, request, response);
      else this.#refuse(request, response, body, 413);
    });
  }

  /** Goes over to other agents. */
  setAgents(agents: readonly InitialAgent[]): Promise<void> {
    return this.#book.setStarting(agents);
  }

  /** Ends everything that is open. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#load.close();
    await this.#book.close();
    await this.#http.close();
  }

  async #showPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      this.#refuse(request, response, new A2AError('METHOD_NOT_ALLOWED'), 405);
      return;
    }
    const file = await this.#page.file(path);
    if (!file) {
      this.#refuse(request, response, new A2AError('NOT_FOUND'), 404);
      return;
    }
    response.writeHead(200, [
      ...securityHeaders,
      ...file.headers,
      'Content-Length',
      String(file.bytes.length),
    ]);
    response.end(method === 'HEAD' ? undefined : file.bytes);
  }

  async #answer(
    path: string,
    query: URLSearchParams,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    response.on('close', leave);
    this.#ending.signal.addEventListener('abort', leave);
    try {
      const { handle, names } = matchRoute(this.#routes, request.method ?? '', path);
      const answer = await handle({ query, body, signal: leaving.signal }, ...names);
      if ('stream' in answer) await this.#stream(answer.stream, response, leaving.signal);
      else send(response, answer);
    } catch (thrown) {
      this.#refuse(request, response, thrown);
    } finally {
      this.#ending.signal.removeEventListener('abort', leave);
    }
  }

  async #stream(
    work: (stream: JsonEventStream) => Promise<void>,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#streams >= this.#maxStreams)
      throw new A2AError('RESOURCE_EXHAUSTED', `The console has ${this.#maxStreams} streams open`, {
        hint: 'Close some of its tabs.',
      });
    this.#streams++;
    try {
      response.writeHead(200, [...securityHeaders, ...fresh, 'Content-Type', 'text/event-stream']);
      response.flushHeaders();
      const stream = new JsonEventStream(response, signal);
      try {
        await work(stream);
      } catch (thrown) {
        this.#note(thrown);
        await stream.send({ kind: 'error', ...problemOf(thrown) });
      }
      response.end();
    } finally {
      this.#streams--;
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, thrown: unknown, status?: number): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    this.#note(thrown);
    const headers = [...securityHeaders, ...fresh, 'Content-Type', 'application/json'];
    const body = JSON.stringify({ error: problemOf(thrown) });
    const reply = { status: status ?? statusOf(thrown), headers, body };
    rejectBody(reply, request, response, this.#maxBodyBytes);
  }

  /** What nobody expected is told to whoever runs the console, and not to the page. */
  #note(thrown: unknown): void {
    const { reason, cause } = A2AError.from(thrown);
    if (reason === 'INTERNAL_ERROR')
      this.#log?.({ level: 'error', message: 'the console failed', error: cause ?? thrown });
  }
}

const fresh = ['Cache-Control', 'no-store'];

function send(response: ServerResponse, answer: Exclude<ApiResponse, { stream: unknown }>): void {
  if ('nothing' in answer) {
    response.writeHead(204, [...securityHeaders, ...fresh]).end();
    return;
  }
  const [text, headers] =
    'json' in answer
      ? [JSON.stringify(answer.json), ['Content-Type', 'application/json']]
      : [
          answer.file,
          ['Content-Type', answer.type, 'Content-Disposition', `attachment; filename="${answer.name}"`],
        ];
  const length = String(Buffer.byteLength(text));
  response.writeHead(200, [...securityHeaders, ...fresh, ...headers, 'Content-Length', length]).end(text);
}

function problemOf(thrown: unknown): { reason: string; message: string } {
  return { reason: A2AError.from(thrown).reason, message: errorText(thrown) };
}

/** 401 and 403 are for the page itself; that an agent refused is no fault of its. */
function statusOf(thrown: unknown): number {
  const { http } = errorTable[A2AError.from(thrown).reason];
  return http === 401 || http === 403 ? 502 : http;
}
