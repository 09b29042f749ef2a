import type { IncomingMessage, ServerResponse } from 'node:http';
import { metricNames, type Metrics } from '../metrics/metrics.ts';
import { expositionMediaType } from '../metrics/registry.ts';
import type { Agent } from '../protocol/agent.ts';
import { invalidField } from '../protocol/errors.ts';
import { isLoopbackAddress } from '../server/limits/client-address.ts';
import type { ServerContext } from '../server/http/server-context.ts';
import { AgentHttpHandler } from '../server/http/agent-http-handler.ts';
import type { BufferedRequestHandler } from '../server/fast-path/buffered-handler.ts';
import { listen, type ServeOptions, type RunningServer } from '../server/node/listen.ts';
import { nodeListener } from '../server/node/serve.ts';
import { resolvePublicUrl } from '../server/cards/public-url.ts';
import { openTracing } from '../tracing/tracing.ts';
import type { UpstreamHealth } from './agents/upstream.ts';

/** How many agents are shown under one host. */
export interface GatewayOptions extends Omit<ServeOptions, 'basePath' | 'metrics'> {
  /** The address of the gateway as others see it; agents are below it, at `/agents/{name}`. */
  publicUrl?: string;
  /** Counts, and shows what was counted at `/metrics` to callers on this machine. @defaultValue nobody counts */
  metrics?: Metrics;
}

/** What is known of an agent beside itself. */
export interface GatewayEntry {
  agent: Agent;
  /** How it is. @defaultValue as well as the gateway */
  health?: () => UpstreamHealth;
  /** What its listing says beside name, address and health, where it is known at once. */
  about?: () => { readonly [key: string]: string | undefined };
}

interface Entry {
  readonly name: string;
  readonly shown: GatewayEntry;
  readonly httpFace: AgentHttpHandler;
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers those of its requests that do not come through the listener. */
  readonly answerer: BufferedRequestHandler;
  /** Requests that have not got their whole answer. */
  active: number;
  /** Called when the last of them has. */
  idle: (() => void) | undefined;
}

/** Many agents under one host. */
export interface Gateway {
  /** Shows an agent, in the place of one of the same name. */
  addAgent(name: string, shown: GatewayEntry): void;
  /**
   * Shows an agent no more, if it still is.
   *
   * @returns when the last request to it has its answer.
   */
  removeAgent(shown: GatewayEntry): Promise<void>;
  /** Changes how agents are shown from now on; those that are shown have to be shown again. */
  configure(options: Omit<GatewayOptions, 'port' | 'host' | 'tls' | 'metrics'>): void;
  /** Takes requests. */
  listen(): Promise<RunningServer>;
  /** Says at `/readyz` that there is nothing to be had here. */
  isReady: boolean;
}

const prefix = '/agents/';
const nameForm = /^[A-Za-z0-9][\w.~-]{0,127}$/;

/** Says what is wrong with a name that is to be part of an address; undefined when nothing is. */
export function agentNameProblem(name: string): string | undefined {
  if (nameForm.test(name)) return undefined;
  return 'must be made of letters, digits, ".", "_", "~" and "-", because it is part of an address';
}

/** Opens a gateway. Agents are served at `/agents/{name}`, each in every version and transport. */
export function createGateway(options: GatewayOptions = {}): Gateway {
  return new GatewayServer(options);
}

class GatewayServer implements Gateway {
  #options: GatewayOptions;
  #publicUrl: string | undefined;
  readonly #entries = new Map<string, Entry>();
  /** Those that are shown no more and have requests left. */
  readonly #leaving = new Map<Entry, Promise<void>>();
  isReady = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#publicUrl = withoutSlash(options.publicUrl);
    this.#observe();
  }

  configure(options: GatewayOptions): void {
    const { port, host, tls, metrics } = this.#options;
    this.#options = { ...options, port, host, tls, metrics };
    this.#publicUrl = withoutSlash(options.publicUrl);
  }

  addAgent(name: string, shown: GatewayEntry): void {
    const complaint = agentNameProblem(name);
    if (complaint !== undefined) throw invalidField('name', complaint);
    this.#remove(this.#entries.get(name));
    const basePath = prefix + name;
    const { metrics, ...options } = this.#options;
    const own = {
      ...options,
      basePath,
      publicUrl: this.#publicUrl === undefined ? undefined : this.#publicUrl + basePath,
      // One page for all of them is enough.
      metrics: metrics && { metrics, path: '' },
    };
    const httpFace = new AgentHttpHandler(shown.agent, own);
    httpFace.isReady = true;
    const listener = nodeListener(httpFace, own);
    const entry: Entry = {
      name,
      shown,
      httpFace,
      listener,
      answerer: {
        handleBuffered: (exchange) => httpFace.handleBuffered(exchange),
        requestStarted: () => {
          entry.active++;
        },
        streamEnded: (stream) => httpFace.streamEnded(stream),
        requestEnded: () => leave(entry),
      },
      active: 0,
      idle: undefined,
    };
    this.#entries.set(name, entry);
    this.#observe();
  }

  async removeAgent(shown: GatewayEntry): Promise<void> {
    for (const entry of this.#entries.values()) if (entry.shown === shown) this.#remove(entry);
    const left = [...this.#leaving].filter(([entry]) => entry.shown === shown);
    await Promise.all(left.map(([, leaving]) => leaving));
  }

  /** Takes an agent away; the requests that it has finish. */
  #remove(entry: Entry | undefined): void {
    if (!entry) return;
    this.#entries.delete(entry.name);
    if (entry.active === 0) return;
    const leaving = new Promise<void>((resolve) => {
      entry.idle = () => {
        this.#leaving.delete(entry);
        resolve();
      };
    });
    this.#leaving.set(entry, leaving);
  }

  async listen(): Promise<RunningServer> {
    const { metrics, ...options } = this.#options;
    await openTracing(options.tracing);
    const server = await listen(
      {
        listener: (request, response) => this.#receive(request, response),
        contexts: () => this.#faces(),
        metrics,
        handlerFor: (target) => this.#entryAt(target)?.answerer,
      },
      options,
    );
    this.isReady = true;
    return server;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    const entry = this.#entryAt(url);
    if (!entry) {
      this.#own(request, response, url.split('?', 1)[0] ?? '/');
      return;
    }
    entry.active++;
    response.on('close', () => leave(entry));
    entry.listener(request, response);
  }

  #entryAt(target: string): Entry | undefined {
    return target.startsWith(prefix) ? this.#entries.get(nameIn(target)) : undefined;
  }

  /** What the gateway itself has to say. */
  #own(request: IncomingMessage, response: ServerResponse, path: string): void {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    // Whatever else was sent is of no interest.
    request.resume();
    const answer = isReading ? this.#page(request, path) : undefined;
    const { status, type = 'application/json', text } = answer ?? nothing(path, isReading);
    response.writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    response.end(text);
  }

  #page(request: IncomingMessage, path: string): Page | undefined {
    switch (path) {
      case '/healthz':
        return { status: 200, text: '{"status":"ok"}' };
      case '/readyz':
        return this.#readiness();
      case '/agents':
      case '/agents/':
        return { status: 200, text: JSON.stringify({ agents: this.#listing(request) }) };
      case '/metrics': {
        const { metrics } = this.#options;
        if (!metrics) return undefined;
        if (!isLoopbackAddress(request.socket.remoteAddress)) return refused;
        return { status: 200, type: expositionMediaType, text: metrics.registry.text() };
      }
      default:
        return undefined;
    }
  }

  /** Ready as long as there is anything to be had here. */
  #readiness(): Page {
    const agents: Record<string, string> = {};
    let down = 0;
    for (const [name, { shown }] of this.#entries) {
      const { state } = shown.health?.() ?? { state: 'up' };
      agents[name] = state;
      if (state === 'down') down++;
    }
    const isOut = !this.isReady || (down > 0 && down === this.#entries.size);
    const status = !this.isReady ? 'not ready' : isOut ? 'unavailable' : down > 0 ? 'degraded' : 'ready';
    return { status: isOut ? 503 : 200, text: JSON.stringify({ status, agents }) };
  }

  #listing(request: IncomingMessage): object[] {
    const { trustForwarded } = this.#options;
    const isSecure = (request.socket as { encrypted?: boolean }).encrypted === true;
    const seen = { headers: request.headers, isSecure };
    const base = resolvePublicUrl(seen, { publicUrl: this.#publicUrl, trustForwarded });
    return Array.from(this.#entries, ([name, { shown }]) => {
      const url = `${base}${prefix}${name}`;
      const { state, since } = shown.health?.() ?? { state: 'up', since: undefined };
      return {
        name,
        url,
        card: `${url}/.well-known/agent-card.json`,
        health: state,
        since: since === undefined ? undefined : new Date(since).toISOString(),
        ...shown.about?.(),
      };
    });
  }

  *#faces(): Generator<ServerContext> {
    for (const { httpFace } of this.#entries.values()) yield httpFace.context;
    for (const { httpFace } of this.#leaving.keys()) yield httpFace.context;
  }

  #sum(read: (face: ServerContext) => number): number {
    let sum = 0;
    for (const face of this.#faces()) sum += read(face);
    return sum;
  }

  /** Each face would show its own streams only. */
  #observe(): void {
    const { registry } = this.#options.metrics ?? {};
    registry?.observed(metricNames.openStreams, 'gauge', () => this.#sum((face) => face.openStreams));
    registry?.observed(metricNames.events, 'counter', () => this.#sum((face) => face.eventsSent));
  }
}

interface Page {
  status: number;
  type?: string;
  text: string;
}

const refused: Page = {
  status: 403,
  text: '{"error":{"code":403,"status":"PERMISSION_DENIED","message":"Metrics are shown on this machine only"}}',
};

function nothing(path: string, isReading: boolean): Page {
  const isKnown = path === '/agents' || path === '/healthz' || path === '/readyz' || path === '/metrics';
  if (isKnown && !isReading) {
    const error = { code: 405, status: 'UNIMPLEMENTED', message: 'This path takes GET' };
    return { status: 405, text: JSON.stringify({ error }) };
  }
  const message = 'There is no such agent here: GET /agents lists those there are';
  return { status: 404, text: JSON.stringify({ error: { code: 404, status: 'NOT_FOUND', message } }) };
}

function withoutSlash(url: string | undefined): string | undefined {
  return url?.replace(/\/+$/, '');
}

/** A request has its whole answer, or nobody who waits for it. */
function leave(entry: Entry): void {
  if (--entry.active === 0) entry.idle?.();
}

/** The name behind `/agents/`. */
function nameIn(url: string): string {
  for (let i = prefix.length; i < url.length; i++) {
    const at = url.charCodeAt(i);
    if (at === 47 || at === 63) return url.slice(prefix.length, i);
  }
  return url.slice(prefix.length);
}
