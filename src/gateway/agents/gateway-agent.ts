import type { Clock } from '../../primitives/clock.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { MeshServer } from '../../mesh/server/serve-on-mesh.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { LogSink } from '../../primitives/log.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { CircuitBreaker, withCircuitBreaker } from '../middleware/circuit-breaker.ts';
import type { Gateway, GatewayEntry } from '../gateway.ts';
import { monitorHealth } from './health-monitor.ts';
import { formatLosses } from '../telemetry/format-losses.ts';
import type { MeshConnections } from './mesh-connections.ts';
import { withErrorContext } from '../middleware/error-context.ts';
import { withTaskOwnership } from '../ownership/with-task-ownership.ts';
import type { OwnershipRegister } from '../ownership/ownership-register.ts';
import { withPublicCard } from '../middleware/public-card.ts';
import type { PolicyEnforcer } from '../policy/policy-enforcer.ts';
import type { AgentSettings, GatewaySettings } from '../gateway-settings.ts';
import { authenticatesClients } from '../config/tls-files.ts';
import { needsCallerToken } from '../config/credentials.ts';
import type { ProxiedAgent } from '../config/proxied-agent-schema.ts';
import type { GatewayRecorder } from '../telemetry/gateway-recorder.ts';
import { type UpstreamHealth, createUpstream } from './upstream.ts';
import { type UpstreamMetrics, withUpstreamMetrics } from '../middleware/upstream-metrics.ts';

/** Collaborators that all agents of a gateway share. */
export interface GatewayContext {
  readonly gateway: Gateway;
  readonly http: HttpClient;
  readonly metrics: UpstreamMetrics | undefined;
  readonly mesh: MeshConnections;
  readonly ownership: OwnershipRegister;
  readonly policy: CurrentPolicy;
  readonly loadModule: (file: string) => Promise<Agent>;
  readonly clock: Clock;
  readonly log: LogSink;
  /** Records traffic; undefined if no traffic log is configured. */
  readonly recorder: GatewayRecorder | undefined;
}

/** The policy that is in effect; a reload replaces it. */
interface CurrentPolicy {
  /** Undefined if every call is allowed. */
  current: PolicyEnforcer | undefined;
}

interface AgentSource {
  readonly agent: Agent;
  readonly health?: () => UpstreamHealth;
  /** The card of the last successful health check. */
  readonly card: () => AgentCard | undefined;
  /** The agent gets the token of the client, or one that was exchanged for it. */
  readonly passToken?: boolean;
  /** The gateway forwards the client's `Authorization` header to the agent. */
  readonly forwardsAuthorization?: boolean;
  close(): Promise<void>;
}

/** One agent of a gateway: its upstream, its middleware and the server adapters that expose it. */
export class GatewayAgent {
  readonly settings: AgentSettings;
  readonly #context: GatewayContext;
  readonly #source: AgentSource;
  readonly #entry: GatewayEntry;
  #meshServer: MeshServer | undefined;

  private constructor(
    settings: AgentSettings,
    context: GatewayContext,
    source: AgentSource,
    entry: GatewayEntry,
  ) {
    this.settings = settings;
    this.#context = context;
    this.#source = source;
    this.#entry = entry;
  }

  /** Opens an agent and exposes it. */
  static async start(
    settings: AgentSettings,
    gatewaySettings: GatewaySettings,
    context: GatewayContext,
  ): Promise<GatewayAgent> {
    const source = await openSource(settings, gatewaySettings, context);
    // The policy of an agent applies to its tasks, so that they are not found under the name of another agent.
    const isolates = authenticatesClients(gatewaySettings) || gatewaySettings.policy !== undefined;
    const owned = isolates ? withOwners(source.agent, settings, context) : source.agent;
    const entry: GatewayEntry = {
      agent: withPublicCard(owned, {
        displayName: settings.displayName,
        keepSecurity: source.forwardsAuthorization ?? false,
      }),
      ...(source.health && { health: source.health }),
      ...(source.passToken && { passToken: true }),
      info: () => {
        const { name, description, version } = source.card() ?? {};
        return { displayName: settings.displayName ?? name, description, version };
      },
    };
    const gatewayAgent = new GatewayAgent(settings, context, source, entry);
    try {
      await gatewayAgent.#open();
    } catch (thrown) {
      await source.close();
      throw thrown;
    }
    return gatewayAgent;
  }

  async #open(): Promise<void> {
    await this.#source.agent.ready?.();
    await this.joinMesh();
    this.expose();
  }

  /** Exposes the agent on its mesh, if configured. */
  async joinMesh(): Promise<void> {
    if (this.settings.exposeOnMesh)
      this.#meshServer = await this.#context.mesh.serve(
        withOwners(hideWhileDown(this.#source), this.settings, this.#context, (call) => `mesh:${call.owner}`),
        this.settings,
        (call) => this.#context.policy.current?.checkMesh(this.settings.name, call),
      );
  }

  /** Removes the agent from the mesh after its running requests have finished. */
  async leaveMesh(): Promise<void> {
    await this.#meshServer?.close();
    this.#meshServer = undefined;
  }

  /** Exposes the agent over HTTP. Replaces the current entry, which applies changed server options. */
  expose(): void {
    const { exposeOnHttp, name } = this.settings;
    if (exposeOnHttp) this.#context.gateway.addAgent(name, this.#entry);
  }

  /** Removes the agent, drains its requests and closes it. */
  async stop(): Promise<void> {
    await Promise.all([this.#context.gateway.removeAgent(this.#entry), this.leaveMesh()]);
    await this.#source.close();
  }
}

/**
 * Isolates the clients of an agent. Agents loaded from a module do so themselves.
 *
 * @param ownerOf - users of a mesh are not authenticated, so they are no owners of tasks that were created over HTTP.
 */
function withOwners(
  agent: Agent,
  { name, source }: AgentSettings,
  { ownership: register }: GatewayContext,
  ownerOf?: (call: CallContext) => string,
): Agent {
  if (source.kind === 'module') return agent;
  return withTaskOwnership(agent, { register, name, ...(ownerOf && { ownerOf }) });
}

/** Rejects `card()` while the upstream is down, so that the mesh server does not announce it. */
function hideWhileDown({ agent, health }: AgentSource): Agent {
  if (!health) return agent;
  return withInterceptor(agent, {
    async card(request, call, next) {
      const { state, error } = health();
      if (state === 'down' && error) throw error;
      return next(request, call);
    },
  });
}

async function openSource(
  settings: AgentSettings,
  gatewaySettings: GatewaySettings,
  context: GatewayContext,
): Promise<AgentSource> {
  const { source } = settings;
  if (source.kind === 'url') return openUpstream(settings, source.config, gatewaySettings, context);
  const agent = await (source.kind === 'mesh'
    ? context.mesh.connect(source, settings)
    : context.loadModule(source.file));
  return { agent, card: () => undefined, close: async () => agent.close?.() };
}

function openUpstream(
  { name, idleTimeout }: AgentSettings,
  config: ProxiedAgent,
  gatewaySettings: GatewaySettings,
  context: GatewayContext,
): AgentSource {
  const { clock, log, metrics, http, recorder } = context;
  const warn = (message: string, error?: unknown) =>
    log({ level: 'warn', message, error, fields: { agent: name } });
  const upstream = createUpstream(
    { ...config, request_timeout_seconds: idleTimeout / 1000 },
    {
      http: recorder?.recordHttp(http, name) ?? http,
      wrapHttp: recorder && ((own) => recorder.recordHttp(own, name)),
      clock,
      taskIdAliases: context.ownership.aliases(name),
      onWarning: ({ message, error }) => warn(`${name}: ${message}`, error),
      onLoss: (losses, { operation }) => {
        recorder?.recordLosses(losses, { operation, from: 'gateway', to: name });
        warn(`${name}: lost in translation of ${operation}: ${formatLosses(losses)}`);
      },
    },
  );
  const breaker = new CircuitBreaker({
    name,
    clock,
    ...gatewaySettings.breaker,
    onState: (state, error) => {
      if (state === 'open') warn(`${name}: circuit breaker opened`, error);
      if (state === 'closed')
        log({ level: 'info', message: `${name}: circuit breaker closed`, fields: { agent: name } });
    },
  });
  let card: AgentCard | undefined;
  const probe = { check: async (signal?: AbortSignal) => (card = await upstream.check(signal)) };
  let wasUp: boolean | undefined;
  const healthMonitor = monitorHealth(probe, {
    clock,
    interval: gatewaySettings.healthInterval,
    onCheck: (error) => {
      metrics?.recordHealth(name, !error);
      if (error) breaker.report(error);
      else breaker.allowProbe();
      if (error && wasUp !== false) warn(`${name}: health check failed`, error);
      wasUp = !error;
    },
  });
  const forwardsAuthorization =
    config.forward_headers?.some((header) => header.toLowerCase() === 'authorization') ?? false;
  const credentials = config.task_authentication ?? config.authentication;
  const isForwarded =
    credentials !== undefined && 'type' in credentials && credentials.type === 'forward_token';
  const guarded = withCircuitBreaker(
    withErrorContext(upstream.agent, {
      name,
      forwardsAuthorization: forwardsAuthorization || isForwarded,
      onWarning: warn,
    }),
    breaker,
  );
  return {
    agent: metrics ? withUpstreamMetrics(guarded, name, metrics) : guarded,
    health: () => upstream.health,
    card: () => card,
    forwardsAuthorization,
    passToken: needsCallerToken(credentials),
    async close() {
      healthMonitor.stop();
      await upstream.close();
    },
  };
}
