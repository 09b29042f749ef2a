import type { Clock } from '../../client/abortable-sleep.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { MeshServer } from '../../mesh/server/serve-on-mesh.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { LogSink } from '../../primitives/log.ts';
import { withInterceptors } from '../middleware/interceptors.ts';
import { CircuitBreaker } from '../middleware/circuit-breaker.ts';
import type { Gateway, GatewayEntry } from '../gateway.ts';
import { monitorHealth } from './health-monitor.ts';
import { formatLosses } from '../telemetry/format-losses.ts';
import type { MeshConnections } from './mesh-connections.ts';
import { errorContextInterceptor } from '../middleware/error-context.ts';
import { withTaskOwnership } from '../middleware/task-ownership.ts';
import { withPublicCard } from '../middleware/public-card.ts';
import type { AgentSettings, GatewaySettings } from '../gateway-settings.ts';
import type { GatewayRecorder } from '../telemetry/gateway-recorder.ts';
import { type UpstreamHealth, createUpstream } from './upstream.ts';
import type { UpstreamMetrics } from '../middleware/upstream-metrics.ts';

/** What the agents of a gateway share. */
export interface GatewayContext {
  readonly gateway: Gateway;
  readonly http: HttpClient;
  readonly metrics: UpstreamMetrics | undefined;
  readonly mesh: MeshConnections;
  readonly loadModule: (file: string) => Promise<Agent>;
  readonly clock: Clock;
  readonly log: LogSink;
  /** Records what passes, if anybody wants to see it. */
  readonly tap: GatewayRecorder | undefined;
}

/** Where an agent comes from, and what is known of it. */
interface Source {
  readonly agent: Agent;
  readonly health?: () => UpstreamHealth;
  /** The card, as it was seen last. */
  readonly card: () => AgentCard | undefined;
  /** Callers prove themselves to the agent. */
  readonly isForwarding?: boolean;
  close(): Promise<void>;
}

/** One agent of a gateway, from its source to its faces. */
export class GatewayAgent {
  readonly settings: AgentSettings;
  readonly #premises: GatewayContext;
  readonly #source: Source;
  readonly #shown: GatewayEntry;
  #face: MeshServer | undefined;

  private constructor(
    settings: AgentSettings,
    premises: GatewayContext,
    source: Source,
    shown: GatewayEntry,
  ) {
    this.settings = settings;
    this.#premises = premises;
    this.#source = source;
    this.#shown = shown;
  }

  /** Opens an agent and shows it. */
  static async start(
    settings: AgentSettings,
    whole: GatewaySettings,
    premises: GatewayContext,
  ): Promise<GatewayAgent> {
    const source = await sourceOf(settings, whole, premises);
    // An agent of this process knows owners itself.
    const owned =
      whole.auth && settings.source.kind !== 'module' ? withTaskOwnership(source.agent) : source.agent;
    const shown: GatewayEntry = {
      agent: withPublicCard(owned, {
        displayName: settings.displayName,
        keepsSecurity: source.isForwarding ?? false,
      }),
      ...(source.health && { health: source.health }),
      about: () => aboutOf(source.card(), settings),
    };
    const unit = new GatewayAgent(settings, premises, source, shown);
    try {
      await unit.#open();
    } catch (thrown) {
      await source.close();
      throw thrown;
    }
    return unit;
  }

  async #open(): Promise<void> {
    await this.#source.agent.ready?.();
    await this.joinMesh();
    this.expose();
  }

  /** Shows it on its mesh, if it has one. */
  async joinMesh(): Promise<void> {
    if (this.settings.exposeOnMesh)
      this.#face = await this.#premises.mesh.show(liveOnly(this.#source), this.settings);
  }

  /** Leaves its name on the mesh to others. Running requests are answered first. */
  async leaveMesh(): Promise<void> {
    await this.#face?.close();
    this.#face = undefined;
  }

  /** Shows it over HTTP, anew if it is shown. */
  expose(): void {
    const { exposeOnHttp: onHttp, name } = this.settings;
    if (onHttp) this.#premises.gateway.addAgent(name, this.#shown);
  }

  /** Shows it no more, lets requests finish, and lets go. */
  async stop(): Promise<void> {
    await Promise.all([this.#premises.gateway.removeAgent(this.#shown), this.leaveMesh()]);
    await this.#source.close();
  }
}

/** An agent that is known to be gone is not announced. */
function liveOnly({ agent, health }: Source): Agent {
  if (!health) return agent;
  return {
    ...withInterceptors(agent),
    async card(call) {
      const { state, error } = health();
      if (state === 'down' && error) throw error;
      return agent.card(call);
    },
  };
}

function aboutOf(card: AgentCard | undefined, { displayName }: AgentSettings) {
  return {
    displayName: displayName ?? card?.name,
    description: card?.description,
    version: card?.version,
  };
}

async function sourceOf(
  settings: AgentSettings,
  whole: GatewaySettings,
  premises: GatewayContext,
): Promise<Source> {
  const { source } = settings;
  switch (source.kind) {
    case 'url':
      return upstreamSource(settings, whole, premises);
    case 'mesh': {
      const agent = await premises.mesh.find(source, settings);
      return { agent, card: () => undefined, close: async () => agent.close?.() };
    }
    case 'module': {
      const agent = await premises.loadModule(source.file);
      return { agent, card: () => undefined, close: async () => agent.close?.() };
    }
  }
}

function upstreamSource(settings: AgentSettings, whole: GatewaySettings, premises: GatewayContext): Source {
  const { name, idleTimeout } = settings;
  const { clock, log, metrics, http, tap } = premises;
  const { config } = settings.source as Extract<AgentSettings['source'], { kind: 'url' }>;
  const warn = (message: string, error?: unknown) =>
    log({ level: 'warn', message, error, fields: { agent: name } });
  const upstream = createUpstream(
    { ...config, request_timeout_seconds: idleTimeout / 1000 },
    {
      http: tap?.http(http, name) ?? http,
      wrapHttp: tap && ((own) => tap.http(own, name)),
      clock,
      onWarning: ({ message, error }) => warn(`${name}: ${message}`, error),
      onLoss: (losses, { operation }) => {
        tap?.lost(losses, { operation, from: 'gateway', to: name });
        warn(`${name}: lost in translation of ${operation}: ${formatLosses(losses)}`);
      },
    },
  );
  const breaker = new CircuitBreaker({
    name,
    clock,
    ...whole.breaker,
    onState: (state, error) => {
      if (state === 'open') warn(`${name} is not called any more for a while`, error);
      if (state === 'closed')
        log({ level: 'info', message: `${name} is called again`, fields: { agent: name } });
    },
  });
  let card: AgentCard | undefined;
  const looking = {
    check: async (signal?: AbortSignal) => (card = await upstream.check(signal)),
  };
  let wasUp: boolean | undefined;
  const watch = monitorHealth(looking, {
    clock,
    interval: whole.healthInterval,
    onCheck: (error) => {
      metrics?.seen(name, !error);
      if (error) breaker.report(error);
      else breaker.allowProbe();
      if (error && wasUp !== false) warn(`${name} is not there`, error);
      wasUp = !error;
    },
  });
  const isForwarding =
    config.forward_headers?.some((each) => each.toLowerCase() === 'authorization') ?? false;
  const hooks = [
    errorContextInterceptor(name, isForwarding),
    breaker,
    ...(metrics ? [metrics.of(name)] : []),
  ];
  return {
    agent: withInterceptors(upstream.agent, ...hooks),
    health: () => upstream.health,
    card: () => card,
    isForwarding,
    async close() {
      watch.stop();
      await upstream.close();
    },
  };
}
