import { type Clock, systemClock } from '../primitives/clock.ts';
import { withUserAgent } from '../client/http/with-user-agent.ts';
import { undiciHttpClient } from '../client/http/undici-driver.ts';
import type { HttpClient } from '../client/http/http-client.ts';
import type { BrokerConnection } from '../mesh/brokers/broker-connection.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { LogSink } from '../primitives/log.ts';
import type { RunningServer } from '../server/node/listen.ts';
import type { ServerOptions } from '../server/server-options.ts';
import type { TrafficLog } from '../tap/traffic-log.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { MeshConnections } from './agents/mesh-connections.ts';
import { type GatewayObservers, buildServerOptions } from './config/server-options.ts';
import type { AgentSettings, GatewaySettings, MeshSettings } from './gateway-settings.ts';
import { GatewayRecorder, gatewayProductName } from './telemetry/gateway-recorder.ts';
import { type GatewayContext, GatewayAgent } from './agents/gateway-agent.ts';
import { openOwnershipRegister } from './ownership/open-ownership-register.ts';
import type { OwnershipRegister } from './ownership/ownership-register.ts';
import { UpstreamMetrics } from './middleware/upstream-metrics.ts';
import { CertificateRenewal } from './certificate-renewal.ts';
import { authenticatesClients, needsNewServer, readTlsFiles } from './config/tls-files.ts';
import { PolicyCounters } from './policy/policy-counters.ts';
import { type PolicyContext, PolicyEnforcer } from './policy/policy-enforcer.ts';
import { PolicyMetrics } from './policy/policy-metrics.ts';
import { memoryQuotas } from './policy/quotas/memory-quotas.ts';

/** Options of {@link runGateway}. All options are optional. */
export interface RunGatewayOptions extends GatewayObservers {
  log?: LogSink;
  clock?: Clock;
  /** Loads an agent from a JavaScript file. @defaultValue rejects */
  loadModule?: (file: string) => Promise<Agent>;
  /** Connects to a broker. @defaultValue by its URL */
  connectBroker?: (mesh: MeshSettings) => Promise<BrokerConnection>;
  /** Sends the requests to upstreams. @defaultValue a client with at most 256 connections per origin */
  http?: HttpClient;
  /** Records traffic with clients, upstreams and the mesh, and translation losses. @defaultValue no recording */
  trafficLog?: TrafficLog;
  /** Remembers the owners of tasks. `stop()` does not close it. @defaultValue by `store` of the settings */
  ownership?: OwnershipRegister;
}

/** Result of {@link RunningGateway.reload}, as names of agents. */
export interface ReloadResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Changed settings that take effect only after a restart. */
  readonly needsRestart: readonly string[];
}

/** A running gateway. */
export interface RunningGateway extends AsyncDisposable {
  /** URL of the HTTP server; undefined if no agent is exposed over HTTP. */
  readonly url: string | undefined;
  /** Current settings. */
  readonly settings: GatewaySettings;
  readonly metrics: Metrics | undefined;
  /**
   * Applies changed settings, as on SIGHUP: adds, removes and replaces agents while running requests finish. If it
   * rejects, the previous settings remain in effect.
   */
  reload(settings: GatewaySettings): Promise<ReloadResult>;
  /** Stops accepting requests, drains running ones for at most `drainTimeout` milliseconds and closes all agents. */
  stop(drainTimeout?: number): Promise<void>;
}

/** Starts a gateway. */
export async function runGateway(
  settings: GatewaySettings,
  options: RunGatewayOptions = {},
): Promise<RunningGateway> {
  const ownership = options.ownership ?? (await openOwnershipRegister(settings));
  const running = new ManagedGateway(settings, options, ownership);
  await running.start();
  return running;
}

class ManagedGateway implements RunningGateway {
  settings: GatewaySettings;
  readonly metrics: Metrics | undefined;
  readonly #options: RunGatewayOptions;
  readonly #gateway: Gateway;
  readonly #http: HttpClient;
  readonly #ownsHttp: boolean;
  readonly #mesh: MeshConnections;
  readonly #context: GatewayContext;
  readonly #policyContext: PolicyContext;
  readonly #serverObservers: Pick<ServerOptions, 'onTraffic'>;
  #agents = new Map<string, GatewayAgent>();
  #server: RunningServer | undefined;
  #certificates: CertificateRenewal | undefined;
  /** Serializes reloads. */
  #lastReload: Promise<unknown> = Promise.resolve();
  /** Removed agents that still drain. */
  readonly #draining = new Set<Promise<void>>();

  constructor(settings: GatewaySettings, options: RunGatewayOptions, ownership: OwnershipRegister) {
    this.settings = settings;
    this.#options = options;
    const { clock = systemClock, log = () => {}, connectBroker, loadModule = rejectModule } = options;
    const recorder = options.trafficLog && new GatewayRecorder(options.trafficLog);
    this.#serverObservers = recorder?.server ?? {};
    this.metrics = settings.metrics ? new Metrics() : undefined;
    this.#policyContext = {
      counters: new PolicyCounters(ownership.quotas?.() ?? memoryQuotas(), clock),
      metrics: this.metrics && new PolicyMetrics(this.metrics.registry),
      log,
    };
    const policy = { current: this.#enforce(settings) };
    this.#gateway = createGateway({
      ...buildServerOptions(settings, options),
      ...this.#serverObservers,
      policy: policy.current,
      ...settings.listen,
      tls: readTlsFiles(settings),
      fastPath: settings.fastPath,
      grpc: settings.grpc,
      drain: { notReady: settings.notReady },
      metrics: this.metrics,
    });
    if (ownership.outage) this.#gateway.outage = () => ownership.outage?.();
    this.#ownsHttp = options.http === undefined;
    this.#http =
      options.http ??
      withUserAgent(undiciHttpClient({ connectTimeout: 10_000, maxConnections: 256 }), gatewayProductName);
    const { file } = settings;
    this.#mesh = new MeshConnections({
      log,
      clock,
      metrics: this.metrics,
      file,
      openBroker: connectBroker,
      recorder,
      ownership,
    });
    this.#context = {
      gateway: this.#gateway,
      http: this.#http,
      metrics: this.metrics && new UpstreamMetrics(this.metrics.registry, clock),
      mesh: this.#mesh,
      ownership,
      policy,
      loadModule,
      clock,
      log,
      recorder,
    };
  }

  get url(): string | undefined {
    return this.#server?.url;
  }

  async start(): Promise<void> {
    try {
      for (const each of this.settings.agents) await this.#start(each, this.settings);
      if (!this.settings.listen) return;
      this.#server = await this.#gateway.listen();
      if (this.settings.tls) {
        const { clock, log } = this.#context;
        const { tls: started } = this.settings;
        const read = () =>
          needsNewServer(started, this.settings.tls) ? undefined : readTlsFiles(this.settings);
        this.#certificates = new CertificateRenewal(this.#server.server, read, { clock, log });
      }
    } catch (thrown) {
      await this.stop(0);
      throw thrown;
    }
  }

  reload(settings: GatewaySettings): Promise<ReloadResult> {
    const reload = this.#lastReload.then(() => this.#reload(settings));
    this.#lastReload = reload.catch(() => undefined);
    return reload;
  }

  async #reload(settings: GatewaySettings): Promise<ReloadResult> {
    const before = this.settings;
    // Throws on invalid settings before anything changes.
    const options = { ...buildServerOptions(settings, this.#options), ...this.#serverObservers };
    const isSamePolicy = JSON.stringify(before.policy) === JSON.stringify(settings.policy);
    const policy = isSamePolicy ? this.#context.policy.current : this.#enforce(settings);
    const policyBefore = this.#context.policy.current;
    const tls = readTlsFiles(settings);
    const wanted = new Map(settings.agents.map((each) => [agentKey(each, settings), each]));
    const toStart = [...wanted].filter(([key]) => !this.#agents.has(key));
    const toStop = [...this.#agents].filter(([key]) => !wanted.has(key));
    // Before new agents start, so that none is served without its policy.
    this.#applyOptions(options, policy);
    const started: string[] = [];
    // A name on a mesh has one server, so the old agent leaves before the new one joins.
    for (const [key, agent] of toStop) {
      this.#agents.delete(key);
      await agent.leaveMesh();
    }
    try {
      for (const [key, each] of toStart) {
        await this.#start(each, settings);
        started.push(key);
      }
    } catch (thrown) {
      await this.#restore(before, policyBefore, { started, stopped: toStop });
      throw thrown;
    }
    for (const [, agent] of toStop) this.#drain(agent.stop());
    if (haveServerSettingsChanged(before, settings))
      for (const agent of this.#agents.values()) agent.expose();
    this.settings = settings;
    if (!needsNewServer(before.tls, settings.tls)) this.#certificates?.apply(tls);
    const startedNames = new Set(toStart.map(([, { name }]) => name));
    const stoppedNames = new Set(toStop.map(([, agent]) => agent.settings.name));
    const restartSettings = ['listen', 'metrics', 'otlp', 'store', 'fastPath', 'grpc'] as const;
    return {
      added: [...startedNames].filter((name) => !stoppedNames.has(name)),
      removed: [...stoppedNames].filter((name) => !startedNames.has(name)),
      changed: [...startedNames].filter((name) => stoppedNames.has(name)),
      needsRestart: [
        ...restartSettings.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(settings[key])),
        ...(needsNewServer(before.tls, settings.tls) ? ['tls'] : []),
      ],
    };
  }

  /** Returns the policy of settings; undefined if they have none. */
  #enforce({ policy, file }: GatewaySettings): PolicyEnforcer | undefined {
    return policy && new PolicyEnforcer(policy, file, this.#policyContext);
  }

  #applyOptions(options: ServerOptions, policy: PolicyEnforcer | undefined): void {
    this.#context.policy.current = policy;
    this.#gateway.configure({ ...options, policy });
  }

  async #restore(
    before: GatewaySettings,
    policyBefore: PolicyEnforcer | undefined,
    { started, stopped }: { started: readonly string[]; stopped: readonly [string, GatewayAgent][] },
  ): Promise<void> {
    for (const key of started) {
      const agent = this.#agents.get(key);
      this.#agents.delete(key);
      await agent?.stop();
    }
    const options = { ...buildServerOptions(before, this.#options), ...this.#serverObservers };
    this.#applyOptions(options, policyBefore);
    for (const [key, agent] of stopped) {
      this.#agents.set(key, agent);
      await agent.joinMesh();
      agent.expose();
    }
  }

  async #start(each: AgentSettings, settings: GatewaySettings): Promise<void> {
    this.#agents.set(agentKey(each, settings), await GatewayAgent.start(each, settings, this.#context));
  }

  #drain(stopping: Promise<void>): void {
    const draining = stopping
      .catch((error: unknown) =>
        this.#context.log({ level: 'warn', message: 'Failed to stop a removed agent', error }),
      )
      .finally(() => this.#draining.delete(draining));
    this.#draining.add(draining);
  }

  async stop(drainTimeout = this.settings.drain): Promise<void> {
    this.#gateway.isReady = false;
    this.#certificates?.stop();
    await this.#lastReload;
    await this.#server?.stop(drainTimeout);
    const agents = [...this.#agents.values()];
    this.#agents = new Map();
    await Promise.all([...this.#draining, ...agents.map((agent) => agent.stop())]);
    await this.#mesh.close();
    if (this.#ownsHttp) await this.#http.close();
    if (!this.#options.ownership) await this.#context.ownership.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Identifies an agent by everything that requires a restart of it. */
function agentKey(each: AgentSettings, settings: GatewaySettings): string {
  const { policy, breaker, healthInterval } = settings;
  const isolates = authenticatesClients(settings) || policy !== undefined;
  return JSON.stringify([each, isolates, breaker, healthInterval]);
}

/** Returns true if settings changed that the servers of all agents use. */
function haveServerSettingsChanged(a: GatewaySettings, b: GatewaySettings): boolean {
  const serverSettings = (settings: GatewaySettings) => {
    const { auth, policy, limits, sign, publicUrl, trustForwarded, trustProxy, allowedHosts, cors } =
      settings;
    const urls = [publicUrl, trustForwarded, trustProxy, allowedHosts, cors];
    return JSON.stringify([auth, policy, limits, sign, ...urls]);
  };
  return serverSettings(a) !== serverSettings(b);
}

async function rejectModule(file: string): Promise<Agent> {
  throw new A2AError('UNSUPPORTED_OPERATION', `Loading agents from files is not enabled: ${file}`);
}
