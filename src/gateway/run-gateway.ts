import { type Clock, systemClock } from '../client/abortable-sleep.ts';
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
import { UpstreamMetrics } from './middleware/upstream-metrics.ts';

/** What a gateway is run with. Everything has a default. */
export interface RunGatewayOptions extends GatewayObservers {
  log?: LogSink;
  clock?: Clock;
  /** Loads an agent from a file. @defaultValue files are not loaded */
  loadModule?: (file: string) => Promise<Agent>;
  /** Opens the link to a broker. @defaultValue by its URL */
  connectBroker?: (mesh: MeshSettings) => Promise<BrokerConnection>;
  /** Makes the requests to upstreams. @defaultValue a client with at most 256 connections to an origin */
  http?: HttpClient;
  /**
   * Records what passes: callers and the gateway, the gateway and its upstreams, the mesh, and what was lost in
   * translation. @defaultValue nothing is recorded
   */
  trafficLog?: TrafficLog;
}

/** What a reload did. */
export interface ReloadResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** What takes effect after a restart only. */
  readonly needsRestart: readonly string[];
}

/** A gateway that runs. */
export interface RunningGateway extends AsyncDisposable {
  /** Where it listens; undefined where nothing is shown over HTTP. */
  readonly url: string | undefined;
  /** What it runs. */
  readonly settings: GatewaySettings;
  readonly metrics: Metrics | undefined;
  /**
   * Goes over to other settings: agents come, go and change, and running requests finish. Where that fails, the gateway
   * goes on as it was.
   */
  reload(settings: GatewaySettings): Promise<ReloadResult>;
  /** Takes no more requests, lets running ones finish for a while, and lets go of everything. */
  stop(within?: number): Promise<void>;
}

/** Runs all that a file says. */
export async function runGateway(
  settings: GatewaySettings,
  options: RunGatewayOptions = {},
): Promise<RunningGateway> {
  const running = new Running(settings, options);
  await running.start();
  return running;
}

class Running implements RunningGateway {
  settings: GatewaySettings;
  readonly metrics: Metrics | undefined;
  readonly #options: RunGatewayOptions;
  readonly #gateway: Gateway;
  readonly #http: HttpClient;
  readonly #ownsHttp: boolean;
  readonly #mesh: MeshConnections;
  readonly #premises: GatewayContext;
  readonly #watching: Pick<ServerOptions, 'onTraffic'>;
  #units = new Map<string, GatewayAgent>();
  #server: RunningServer | undefined;
  /** One reload after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Units that are on their way out. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(settings: GatewaySettings, options: RunGatewayOptions) {
    this.settings = settings;
    this.#options = options;
    const { clock = systemClock, log = () => {}, connectBroker: openLink, loadModule = noModules } = options;
    const tap = options.trafficLog && new GatewayRecorder(options.trafficLog);
    this.#watching = tap?.server ?? {};
    this.metrics = settings.metrics ? new Metrics() : undefined;
    this.#gateway = createGateway({
      ...buildServerOptions(settings, options),
      ...this.#watching,
      ...settings.listen,
      metrics: this.metrics,
    });
    this.#ownsHttp = options.http === undefined;
    this.#http =
      options.http ??
      withUserAgent(undiciHttpClient({ connectTimeout: 10_000, maxConnections: 256 }), gatewayProductName);
    this.#mesh = new MeshConnections({ log, clock, file: settings.file, openLink, tap });
    this.#premises = {
      gateway: this.#gateway,
      http: this.#http,
      metrics: this.metrics && new UpstreamMetrics(this.metrics.registry, clock),
      mesh: this.#mesh,
      loadModule,
      clock,
      log,
      tap,
    };
  }

  get url(): string | undefined {
    return this.#server?.url;
  }

  async start(): Promise<void> {
    try {
      for (const each of this.settings.agents) await this.#start(each, this.settings);
      if (this.settings.listen) this.#server = await this.#gateway.listen();
    } catch (thrown) {
      await this.stop(0);
      throw thrown;
    }
  }

  reload(settings: GatewaySettings): Promise<ReloadResult> {
    const turn = this.#turn.then(() => this.#reload(settings));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #reload(settings: GatewaySettings): Promise<ReloadResult> {
    const before = this.settings;
    // What cannot be meant is found before anything changes.
    const options = { ...buildServerOptions(settings, this.#options), ...this.#watching };
    const wanted = new Map(settings.agents.map((each) => [keyOf(each, settings), each]));
    const fresh = [...wanted].filter(([key]) => !this.#units.has(key));
    const leaving = [...this.#units].filter(([key]) => !wanted.has(key));
    this.#gateway.configure(options);
    const started: string[] = [];
    // A name on a mesh may have one owner, so that the old one goes first.
    for (const [key, unit] of leaving) {
      this.#units.delete(key);
      await unit.leaveMesh();
    }
    try {
      for (const [key, each] of fresh) {
        await this.#start(each, settings);
        started.push(key);
      }
    } catch (thrown) {
      await this.#restore(before, started, leaving);
      throw thrown;
    }
    for (const [, unit] of leaving) this.#leave(unit.stop());
    if (isShownOtherwise(before, settings)) for (const unit of this.#units.values()) unit.expose();
    this.settings = settings;
    const freshNames = new Set(fresh.map(([, { name }]) => name));
    const leavingNames = new Set(leaving.map(([, { settings: each }]) => each.name));
    return {
      added: [...freshNames].filter((name) => !leavingNames.has(name)),
      removed: [...leavingNames].filter((name) => !freshNames.has(name)),
      changed: [...freshNames].filter((name) => leavingNames.has(name)),
      needsRestart: laterOf(before, settings),
    };
  }

  /** Everything as it was. */
  async #restore(
    before: GatewaySettings,
    started: readonly string[],
    left: readonly [string, GatewayAgent][],
  ): Promise<void> {
    for (const key of started) {
      const unit = this.#units.get(key);
      this.#units.delete(key);
      await unit?.stop();
    }
    this.#gateway.configure({ ...buildServerOptions(before, this.#options), ...this.#watching });
    for (const [key, unit] of left) {
      this.#units.set(key, unit);
      await unit.joinMesh();
      unit.expose();
    }
  }

  async #start(each: AgentSettings, settings: GatewaySettings): Promise<void> {
    this.#units.set(keyOf(each, settings), await GatewayAgent.start(each, settings, this.#premises));
  }

  #leave(stopping: Promise<void>): void {
    const leaving = stopping
      .catch((error: unknown) =>
        this.#premises.log({ level: 'warn', message: 'An agent did not end well', error }),
      )
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  async stop(within = this.settings.drain): Promise<void> {
    this.#gateway.isReady = false;
    await this.#turn;
    await this.#server?.stop(within);
    const units = [...this.#units.values()];
    this.#units = new Map();
    await Promise.all([...this.#leaving, ...units.map((unit) => unit.stop())]);
    await this.#mesh.close();
    if (this.#ownsHttp) await this.#http.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Two entries of the same key are the same agent. */
function keyOf(each: AgentSettings, { auth, breaker, healthInterval }: GatewaySettings): string {
  return JSON.stringify([each, auth !== undefined, breaker, healthInterval]);
}

/** What the faces of agents that stay depend on. */
function isShownOtherwise(a: GatewaySettings, b: GatewaySettings): boolean {
  const facing = ({ auth, limits, sign, publicUrl, trustForwarded }: GatewaySettings) =>
    JSON.stringify([auth, limits, sign, publicUrl, trustForwarded]);
  return facing(a) !== facing(b);
}

function laterOf(a: GatewaySettings, b: GatewaySettings): string[] {
  return (['listen', 'metrics'] as const).filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
}

function noModules(file: string): Promise<Agent> {
  return Promise.reject(new A2AError('UNSUPPORTED_OPERATION', `${file} cannot be loaded here`));
}
