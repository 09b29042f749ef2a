import type { IncomingMessage, ServerResponse } from 'node:http';
import { metricNames, type Metrics } from '../metrics/metrics.ts';
import { expositionMediaType } from '../metrics/registry.ts';
import type { Agent, Principal } from '../protocol/agent.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import type { Outage } from '../protocol/outage.ts';
import { isLoopbackAddress } from '../primitives/loopback.ts';
import { createSameOriginCheck } from '../server/http/cors.ts';
import type { SameOriginCheck } from '../primitives/web/same-origin-check.ts';
import type { ServerContext } from '../server/http/server-context.ts';
import { isServerPath } from '../server/http/reserved-paths.ts';
import { ServerBudgets } from '../server/limits/server-budgets.ts';
import { TrustedProxies } from '../server/limits/trusted-proxies.ts';
import { AgentHttpHandler } from '../server/http/agent-http-handler.ts';
import type { GrpcAgentName, GrpcAgentTarget } from '../server/grpc/grpc-agents.ts';
import { resolveGrpc } from '../server/grpc/grpc-options.ts';
import type { BufferedRequestHandler } from '../server/fast-path/buffered-handler.ts';
import { listen, type ServeOptions, type RunningServer } from '../server/node/listen.ts';
import { nodeListener } from '../server/node/node-listener.ts';
import { NodeServerRequest } from '../server/node/node-server-request.ts';
import type { CallPolicy } from '../server/auth/call-policy.ts';
import { hasCurrentCopy } from '../server/cards/etag.ts';
import { resolvePublicUrl } from '../server/cards/public-url.ts';
import { openTracing } from '../tracing/tracing.ts';
import type { UpstreamHealth } from './agents/upstream.ts';
import { stripTrailing } from '../primitives/text.ts';
import {
  agentsPrefix as prefix,
  agentListPage,
  catalogPage,
  forbiddenPage,
  gatewayCatalogPath,
  type Page,
  readinessPage,
  rejectedPage,
  unknownPage,
} from './gateway-pages.ts';

/** Options of {@link createGateway}. */
export interface GatewayOptions extends Omit<ServeOptions, 'basePath' | 'metrics' | 'policy' | 'passToken'> {
  /** URL under which clients reach the gateway. Agents are served below it, at `/agents/{name}`. */
  publicUrl?: string;
  /** Decides which client may call and find which agent. @defaultValue every client all agents */
  policy?: GatewayPolicy | undefined;
  /** Records metrics and serves them at `/metrics` to local clients. @defaultValue no metrics */
  metrics?: Metrics;
}

/** Policy of a gateway. */
export interface GatewayPolicy {
  /** Returns the policy of an agent. */
  httpPolicy(agent: string): CallPolicy;
  /** Returns true if a client finds an agent in the lists of the gateway. */
  isVisible(agent: string, principal: Principal | undefined): boolean;
}

/** An agent of a gateway, with its health and listing information. */
export interface GatewayEntry {
  agent: Agent;
  /** Health of the agent. @defaultValue always `up` */
  health?: () => UpstreamHealth;
  /** Gives the agent the bearer token of its clients. @defaultValue false */
  passToken?: boolean;
  /** Additional fields of the agent in `GET /agents`. */
  info?: () => { readonly [key: string]: string | undefined };
}

interface Entry {
  readonly name: string;
  readonly added: GatewayEntry;
  readonly handler: AgentHttpHandler;
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Handles requests of the fast path, which bypass the listener. */
  readonly fastPath: BufferedRequestHandler;
  /** Requests without a complete response. */
  active: number;
  /** Called when the last active request ends. */
  onIdle: (() => void) | undefined;
}

/** Serves many agents under one host. */
export interface Gateway {
  /** Adds an agent, or replaces the agent with the same name. */
  addAgent(name: string, entry: GatewayEntry): void;
  /** Removes an agent. Resolves when its running requests have drained. */
  removeAgent(entry: GatewayEntry): Promise<void>;
  /** Changes the options of agents added afterwards; add existing agents again to apply them. */
  configure(options: Omit<GatewayOptions, 'port' | 'host' | 'tls' | 'metrics' | 'grpc'>): void;
  /** Starts to accept requests. */
  listen(): Promise<RunningServer>;
  /** False makes `/readyz` respond 503. */
  isReady: boolean;
  /** Returns the outage of the register of owners, if it has one; `/readyz` responds 503 then. */
  outage: (() => Outage | undefined) | undefined;
}

const agentNamePattern = /^[A-Za-z0-9][\w.~-]{0,127}$/;

/** Returns why an agent name is invalid, or undefined if it is valid. */
export function agentNameProblem(name: string): string | undefined {
  if (isServerPath(`/${name}`)) return 'is reserved for the server';
  if (agentNamePattern.test(name)) return undefined;
  return 'must consist of letters, digits, ".", "_", "~" and "-", because it is part of a URL';
}

/** Creates a gateway. Agents are served at `/agents/{name}`, each in every version and transport. */
export function createGateway(options: GatewayOptions = {}): Gateway {
  return new GatewayServer(options);
}

class GatewayServer implements Gateway {
  #options: GatewayOptions;
  #publicUrl: string | undefined;
  #sameOrigin: SameOriginCheck | undefined;
  #budgets: ServerBudgets;
  readonly #entries = new Map<string, Entry>();
  /** Removed agents with running requests. */
  readonly #draining = new Map<Entry, Promise<void>>();
  isReady = false;
  outage: Gateway['outage'] = undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#publicUrl = withoutTrailingSlash(options.publicUrl);
    this.#sameOrigin = createSameOriginCheck(options);
    this.#budgets = new ServerBudgets(options.limits, options.metrics);
    this.#observe();
  }

  configure(options: GatewayOptions): void {
    const { port, host, tls, metrics, grpc } = this.#options;
    this.#options = { ...options, port, host, tls, metrics, grpc };
    this.#publicUrl = withoutTrailingSlash(options.publicUrl);
    this.#sameOrigin = createSameOriginCheck(options);
    this.#budgets = new ServerBudgets(options.limits, metrics);
  }

  addAgent(name: string, added: GatewayEntry): void {
    const problem = agentNameProblem(name);
    if (problem !== undefined) throw invalidField('name', problem);
    this.#remove(this.#entries.get(name));
    const basePath = prefix + name;
    const { metrics, policy, ...options } = this.#options;
    const own = {
      ...options,
      policy: policy?.httpPolicy(name),
      passToken: added.passToken ?? false,
      basePath,
      publicUrl: this.#publicUrl === undefined ? undefined : this.#publicUrl + basePath,
      // The gateway serves one metrics page for all agents.
      metrics: metrics && { metrics, path: '' },
    };
    const handler = new AgentHttpHandler(added.agent, own, this.#budgets);
    handler.isReady = true;
    handler.context.cards.hasGrpc = resolveGrpc(own.grpc) !== undefined;
    handler.context.cards.grpcTenant = name;
    const listener = nodeListener(handler, own);
    const entry: Entry = {
      name,
      added,
      handler,
      listener,
      fastPath: {
        handleBuffered: (request) => handler.handleBuffered(request),
        requestStarted: () => {
          entry.active++;
        },
        streamEnded: (stream) => handler.streamEnded(stream),
        requestEnded: () => requestEnded(entry),
      },
      active: 0,
      onIdle: undefined,
    };
    this.#entries.set(name, entry);
    this.#observe();
  }

  async removeAgent(added: GatewayEntry): Promise<void> {
    for (const entry of this.#entries.values()) if (entry.added === added) this.#remove(entry);
    const draining = [...this.#draining].filter(([entry]) => entry.added === added);
    await Promise.all(draining.map(([, drained]) => drained));
  }

  #remove(entry: Entry | undefined): void {
    if (!entry) return;
    this.#entries.delete(entry.name);
    if (entry.active === 0) return;
    const drained = new Promise<void>((resolve) => {
      entry.onIdle = () => {
        this.#draining.delete(entry);
        resolve();
      };
    });
    this.#draining.set(entry, drained);
  }

  async listen(): Promise<RunningServer> {
    const { metrics, policy: _policy, ...options } = this.#options;
    await openTracing(options.tracing);
    const server = await listen(
      {
        listener: (request, response) => this.#receive(request, response),
        contexts: () => this.#contexts(),
        metrics,
        handlerFor: (target) => this.#entryAt(target)?.fastPath,
        // All agents admit and authenticate calls alike.
        grpcHandlerFor: (path) => (this.#entryAt(path) ?? this.#entries.values().next().value)?.handler,
        grpcAgentFor: (named) => this.#grpcAgent(named),
        isReady: () => this.isReady,
      },
      options,
    );
    this.isReady = true;
    return server;
  }

  /**
   * Finds the agent of a gRPC call: by the path or the metadata, or by the tenant (`name`, or `name/tenant` for a tenant of
   * the agent), or, without a tenant, by the host (`name.example.com`) or as the only agent.
   */
  #grpcAgent({ path, agent, tenant, host }: GrpcAgentName): GrpcAgentTarget | undefined {
    const target = (entry: Entry | undefined, ownTenant: string | undefined) =>
      entry && {
        handler: entry.handler,
        tenant: ownTenant,
        requestStarted: () => {
          entry.active++;
        },
        requestEnded: () => requestEnded(entry),
      };
    if (path.startsWith(prefix)) return target(this.#entryAt(path), tenant);
    // The tenant of the card names the agent, too.
    const isNamedTwice = agent !== undefined && tenant?.split('/', 1)[0] === agent;
    if (agent !== undefined && !isNamedTwice) return target(this.#entries.get(agent), tenant);
    if (tenant === undefined) {
      const [only] = this.#entries.size === 1 ? this.#entries.values() : [];
      return target(this.#entries.get(host?.split('.', 1)[0] ?? '') ?? only, undefined);
    }
    const end = tenant.indexOf('/');
    return end < 0
      ? target(this.#entries.get(tenant), undefined)
      : target(this.#entries.get(tenant.slice(0, end)), tenant.slice(end + 1) || undefined);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    const entry = this.#entryAt(url);
    if (!entry) {
      void this.#respond(request, response, url.split('?', 1)[0] ?? '/');
      return;
    }
    entry.active++;
    response.on('close', () => requestEnded(entry));
    entry.listener(request, response);
  }

  #entryAt(target: string): Entry | undefined {
    return target.startsWith(prefix) ? this.#entries.get(agentNameFromPath(target)) : undefined;
  }

  /** Responds to requests for the gateway itself. */
  async #respond(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    // The body is not used.
    request.resume();
    const shown = await this.#findPage(request, response, path);
    const { status, type = 'application/json', text, cache, challenges = [] } = shown;
    const isCurrent = cache && hasCurrentCopy(request.headers['if-none-match'], cache.etag);
    response.writeHead(isCurrent ? 304 : status, {
      'Content-Type': type,
      ...(!isCurrent && { 'Content-Length': Buffer.byteLength(text) }),
      'Cache-Control': cache?.control ?? 'no-store',
      ...(cache && { ETag: cache.etag, Vary: cache.vary }),
      ...(challenges.length > 0 && { 'WWW-Authenticate': [...challenges] }),
      ...(status === 405 && { Allow: 'GET, HEAD' }),
    });
    response.end(isCurrent ? undefined : text);
  }

  async #findPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<Page> {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const problem = this.#sameOrigin?.problem(request.headers, request.socket);
    if (problem !== undefined) return forbiddenPage(problem);
    if (!isReading) return unknownPage(path, isReading);
    try {
      return (await this.#page(request, response, path)) ?? unknownPage(path, isReading);
    } catch (thrown) {
      return rejectedPage(A2AError.from(thrown));
    }
  }

  /** Returns the agents that the client may find. All agents authenticate clients alike. */
  async #visibleEntries(request: IncomingMessage, response: ServerResponse): Promise<readonly Entry[]> {
    const all = [...this.#entries.values()];
    const { policy } = this.#options;
    const [first] = all;
    if (!policy || !first) return all;
    const received = new NodeServerRequest(request, response, '');
    const refusal = first.handler.admit(received);
    if (refusal) throw refusal;
    const { authenticators } = first.handler.context;
    const client = await authenticators?.authenticate(received, { allowAnonymous: true });
    return all.filter(({ name }) => policy.isVisible(name, client?.authentication?.principal));
  }

  async #page(request: IncomingMessage, response: ServerResponse, path: string): Promise<Page | undefined> {
    switch (path) {
      case '/healthz':
        return { status: 200, text: '{"status":"ok"}' };
      case '/readyz':
        return readinessPage(
          [...this.#entries.values()],
          await this.#visibleEntries(request, response),
          this,
        );
      case '/agents':
      case '/agents/':
        return agentListPage(await this.#visibleEntries(request, response), this.#baseUrl(request));
      case gatewayCatalogPath: {
        const { cardMaxAge, trustForwarded, policy } = this.#options;
        const base = this.#baseUrl(request);
        const isPersonal = policy !== undefined;
        const entries = await this.#visibleEntries(request, response);
        return catalogPage(entries, { base, cardMaxAge, trustForwarded, isPersonal });
      }
      case '/metrics': {
        const { metrics } = this.#options;
        if (!metrics) return undefined;
        if (!isLoopbackAddress(this.#clientAddress(request)))
          return forbiddenPage('Metrics are served to local clients only');
        return { status: 200, type: expositionMediaType, text: metrics.registry.text() };
      }
      default:
        return undefined;
    }
  }

  #clientAddress({ socket: { remoteAddress }, headers }: IncomingMessage): string | undefined {
    const { trustProxy } = this.#options;
    return trustProxy && remoteAddress !== undefined
      ? new TrustedProxies(trustProxy).clientAddress({ remoteAddress, headers })
      : remoteAddress;
  }

  /** Returns the URL of the gateway for a client. */
  #baseUrl(request: IncomingMessage): string {
    const { trustForwarded } = this.#options;
    const isSecure = (request.socket as { encrypted?: boolean }).encrypted === true;
    return resolvePublicUrl(
      { headers: request.headers, isSecure },
      { publicUrl: this.#publicUrl, trustForwarded },
    );
  }

  *#contexts(): Generator<ServerContext> {
    for (const { handler } of this.#entries.values()) yield handler.context;
    for (const { handler } of this.#draining.keys()) yield handler.context;
  }

  #sum(read: (context: ServerContext) => number): number {
    let sum = 0;
    for (const context of this.#contexts()) sum += read(context);
    return sum;
  }

  /** Sums over all agents, because each server context counts only its own streams. */
  #observe(): void {
    const { registry } = this.#options.metrics ?? {};
    registry?.observed(metricNames.openStreams, 'gauge', () => this.#sum((context) => context.openStreams));
    registry?.observed(metricNames.events, 'counter', () => this.#sum((context) => context.eventsSent));
  }
}

function withoutTrailingSlash(url: string | undefined): string | undefined {
  return url === undefined ? undefined : stripTrailing(url, '/');
}

/** Called when the response is complete or the client has disconnected. */
function requestEnded(entry: Entry): void {
  if (--entry.active === 0) entry.onIdle?.();
}

/** Returns the path segment after `/agents/`. Called for every request, so it does not parse the URL. */
function agentNameFromPath(url: string): string {
  for (let i = prefix.length; i < url.length; i++) {
    const at = url.charCodeAt(i);
    if (at === 47 || at === 63) return url.slice(prefix.length, i);
  }
  return url.slice(prefix.length);
}
