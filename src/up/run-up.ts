import { dirname, resolve } from 'node:path';
import { memoryArtifactStore } from '../artifacts/stores/memory.ts';
import type { Bridge } from '../bridge/action-types.ts';
import { bridgeAgents } from '../bridge/bridge.ts';
import { openFollowUpStore } from '../bridge/follow-ups/open-follow-up-store.ts';
import { serveMcp } from '../bridge/mcp/server/serve-mcp.ts';
import { connect, type RemoteAgent } from '../client/connect.ts';
import type { InitialAgent } from '../console/agents/agent-registry.ts';
import { type RunningConsole, serveConsole } from '../console/serve-console.ts';
import { type ReloadResult, type RunningGateway, runGateway } from '../gateway/run-gateway.ts';
import type { GatewayObservers } from '../gateway/config/server-options.ts';
import type { AgentSourceSettings, GatewaySettings } from '../gateway/gateway-settings.ts';
import { gatewayProductName } from '../gateway/telemetry/gateway-recorder.ts';
import { A2AError } from '../protocol/errors.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import { parseStoreUrl } from '../store/url/parse-store-url.ts';
import { resolveStoreFile } from '../store/url/store-of-agent.ts';
import { consoleProbeProduct } from '../tap/participants.ts';
import { TrafficLog } from '../tap/traffic-log.ts';
import { tapServer } from '../tap/recorders/tap-server.ts';
import { type HostedAgent, type HostingContext, startHosted } from './hosted-agent.ts';
import type { HostedSettings, PortSetting, UpSettings } from './up-settings.ts';

/** Collaborators of {@link runUp}. */
export interface UpContext extends Omit<HostingContext, 'store'>, GatewayObservers {
  /** Called with deviations from the settings, such as a port in use or a missing library. */
  readonly note: (text: string) => void;
  /** Folder that keeps the sessions of the console; undefined keeps none. */
  readonly sessions?: string;
}

/** Running processes of `dragoman up`: agents, gateway, MCP server and console. */
export interface RunningUp {
  readonly settings: UpSettings;
  readonly gateway: RunningGateway;
  /** Agents that run in this process. */
  readonly hosted: readonly HostedAgent[];
  /** URL of the MCP server; undefined if it is not running. */
  readonly mcpUrl: string | undefined;
  /** URL of the console with its token; undefined if it is not running. */
  readonly consoleUrl: string | undefined;
  /** Applies changed settings. If it rejects, the previous settings remain in effect. */
  reload(settings: UpSettings): Promise<ReloadResult>;
  /** Drains running requests and stops all servers and agents. Idempotent. */
  stop(): Promise<void>;
}

/** Starts the agents, the gateway in front of them, the MCP server and the console. */
export async function runUp(settings: UpSettings, context: UpContext): Promise<RunningUp> {
  const running = new UpProcess(settings, context);
  try {
    await running.start();
  } catch (thrown) {
    await running.stop();
    throw thrown;
  }
  return running;
}

/** Milliseconds to drain direct requests to an agent. */
const agentDrainTimeout = 100;

class UpProcess implements RunningUp {
  settings: UpSettings;
  hosted: HostedAgent[] = [];
  mcpUrl: string | undefined = undefined;
  consoleUrl: string | undefined = undefined;
  readonly #context: UpContext & HostingContext;
  readonly #trafficLog = new TrafficLog();
  #console: RunningConsole | undefined = undefined;
  /** Actions that the MCP server exposes, and the clients they use. */
  #bridge: { readonly actions: Bridge; agents: ConnectedAgent[] } | undefined = undefined;
  /** Stop functions in start order; `stop()` calls them in reverse. */
  readonly #stops: (() => Promise<void>)[] = [];
  #gateway: RunningGateway | undefined = undefined;

  constructor(settings: UpSettings, context: UpContext) {
    this.settings = settings;
    // The gateway records its own requests to agents, and probes of the console would only clutter the log.
    const observeTraffic = (name: string): TrafficObserver | undefined =>
      tapServer(this.#trafficLog, { name, excludedUserAgents: [gatewayProductName, consoleProbeProduct] })
        .onTraffic;
    const { gateway, file } = settings;
    const store = resolveStoreFile(parseStoreUrl(gateway.store), dirname(file));
    this.#context = { ...context, observeTraffic, store };
  }

  get gateway(): RunningGateway {
    if (this.#gateway) return this.#gateway;
    throw new A2AError('UNSUPPORTED_OPERATION', 'The gateway is not started');
  }

  async start(): Promise<void> {
    this.#stops.push(async () => {
      await Promise.all(this.hosted.map((each) => each.stop(agentDrainTimeout)));
    });
    for (const each of this.settings.hosted) this.hosted.push(await startHosted(each, this.#context));
    await this.#startGateway();
    if (this.settings.mcp) await this.#startMcp(this.settings.mcp);
    if (this.settings.console) await this.#startConsole(this.settings.console);
  }

  async #startGateway(): Promise<void> {
    const { gateway, gatewayPort } = this.settings;
    const { log, requestLog, onError } = this.#context;
    const running = await this.#listen('the gateway', gatewayPort, (port) =>
      runGateway(this.#withHostedUrls(gateway, port), {
        log,
        requestLog,
        onError,
        trafficLog: this.#trafficLog,
      }),
    );
    this.#gateway = running;
    this.#stops.push(() => running.stop());
  }

  async #startMcp(setting: PortSetting): Promise<void> {
    const { log, note, store } = this.#context;
    const agents = this.#exposedAgents().map(connectAgent);
    const artifacts = memoryArtifactStore();
    const followUps = await openFollowUpStore(store);
    const actions = await bridgeAgents(agents, { artifacts, log, followUps, whenUnreachable: 'retry' });
    const bridge = { actions, agents };
    this.#bridge = bridge;
    this.#stops.push(async () => {
      await actions.close();
      for (const { agent } of bridge.agents) await agent.close();
    });
    try {
      const running = await this.#listen('MCP', setting, (port) =>
        serveMcp(actions, { http: { port }, artifacts, log }),
      );
      this.mcpUrl = running.url;
      this.#stops.push(() => running.close());
    } catch (thrown) {
      // The MCP library is optional: start the rest without it.
      if (!(thrown instanceof A2AError) || thrown.reason !== 'UNAVAILABLE') throw thrown;
      note(`MCP is not available: ${thrown.hint ?? thrown.message}`);
    }
  }

  async #startConsole(setting: PortSetting): Promise<void> {
    const { metrics } = this.gateway;
    const agents = this.#consoleAgents();
    const running = await this.#listen('the console', setting, (port) =>
      serveConsole({
        agents,
        trafficLog: this.#trafficLog,
        port,
        log: this.#context.log,
        ...(this.#context.sessions !== undefined && { sessions: this.#context.sessions }),
        taskStore: () => this.hosted.flatMap(({ taskStore: ledger }) => ledger ?? []),
        ...(metrics && { metrics }),
      }),
    );
    this.#console = running;
    this.consoleUrl = running.url;
    this.#stops.push(() => running.stop());
  }

  /** The agents behind the gateway, and the hosted agents directly. */
  #consoleAgents(): InitialAgent[] {
    // Ports can differ at each start, the names in the file stay.
    const identify = (place: string, name: string): string =>
      `${resolve(this.settings.file)} ${place} ${name}`;
    return [
      ...this.#exposedAgents().map(({ name, url }) => ({ url, identity: identify('gateway', name) })),
      ...this.hosted.map(({ url, settings }) => ({ url, identity: identify('agent', settings.name) })),
    ];
  }

  /** Passes the current agents to the console and the bridge. */
  async #updateAgents(): Promise<void> {
    await this.#console?.setAgents(this.#consoleAgents());
    const bridge = this.#bridge;
    if (!bridge) return;
    const before = bridge.agents;
    bridge.agents = this.#exposedAgents().map(
      (exposed) => before.find(({ agentName }) => agentName === exposed.name) ?? connectAgent(exposed),
    );
    // Not awaited: an unreachable agent must not delay the reload.
    bridge.actions.setAgents(bridge.agents).catch((error: unknown) => {
      this.#context.log({ level: 'error', message: 'Failed to update the agents of the MCP server', error });
    });
    for (const each of before) if (!bridge.agents.includes(each)) await each.agent.close();
  }

  /** Agents that the gateway exposes over HTTP. */
  #exposedAgents(): { name: string; url: string }[] {
    const { url, settings } = this.gateway;
    if (url === undefined) return [];
    return settings.agents
      .filter(({ exposeOnHttp }) => exposeOnHttp)
      .map(({ name }) => ({ name, url: `${url}/agents/${name}` }));
  }

  /** Starts a server on its port, or on any free port if the port is in use and was not set explicitly. */
  async #listen<Started>(
    what: string,
    { port, mayMove }: PortSetting,
    start: (port: number) => Promise<Started>,
  ): Promise<Started> {
    try {
      return await start(port);
    } catch (cause) {
      const { code } = cause as { code?: unknown };
      if (code === 'EADDRINUSE' && mayMove) {
        this.#context.note(`port ${port} is in use; using another port for ${what}`);
        return start(0);
      }
      if (code !== 'EADDRINUSE') throw cause;
      throw new A2AError('INVALID_PARAMS', `Port ${port} for ${what} is in use`, {
        cause,
        hint: `Set another port in ${this.settings.file}, or 0 for any free port.`,
      });
    }
  }

  /** Replaces the sources of hosted agents by their URLs. */
  #withHostedUrls(gateway: GatewaySettings, port = gateway.listen?.port): GatewaySettings {
    const sources = new Map(this.hosted.map((each) => [each.settings.name, toSource(each)]));
    return {
      ...gateway,
      listen: gateway.listen && { ...gateway.listen, port: port ?? gateway.listen.port },
      agents: gateway.agents.map((each) => ({ ...each, source: sources.get(each.name) ?? each.source })),
    };
  }

  async reload(settings: UpSettings): Promise<ReloadResult> {
    const before = this.hosted;
    const unchanged = before.filter((each) =>
      settings.hosted.some((wanted) => isSame(each.settings, wanted)),
    );
    const started: HostedAgent[] = [];
    try {
      for (const wanted of settings.hosted)
        if (!unchanged.some((each) => isSame(each.settings, wanted)))
          started.push(await startHosted(wanted, this.#context));
      this.hosted = [...unchanged, ...started];
      const reloaded = await this.gateway.reload(
        this.#withHostedUrls(settings.gateway, this.gateway.settings.listen?.port),
      );
      const needsRestart = changedRestartSettings(this.settings, settings, reloaded);
      this.settings = settings;
      await this.#updateAgents();
      await Promise.all(
        before.filter((each) => !unchanged.includes(each)).map((each) => each.stop(agentDrainTimeout)),
      );
      return { ...reloaded, needsRestart };
    } catch (thrown) {
      this.hosted = before;
      await Promise.all(started.map((each) => each.stop(0)));
      throw thrown;
    }
  }

  async stop(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) await stop();
  }
}

interface ConnectedAgent {
  readonly agentName: string;
  readonly agent: RemoteAgent;
}

function connectAgent({ name, url }: { name: string; url: string }): ConnectedAgent {
  return { agentName: name, agent: connect(url) };
}

/** Sets the known version, so that the gateway does not negotiate it. */
function toSource({ settings: { name, onlyVersion }, url }: HostedAgent): AgentSourceSettings {
  return { kind: 'url', config: { name, url, ...(onlyVersion && { a2a_version: onlyVersion }) } };
}

function isSame(a: HostedSettings, b: HostedSettings): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function changedRestartSettings(
  before: UpSettings,
  after: UpSettings,
  { needsRestart }: ReloadResult,
): string[] {
  const changed = (['gatewayPort', 'mcp', 'console'] as const)
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => (key === 'gatewayPort' ? 'listen' : key === 'mcp' ? 'bridge' : key));
  return [...new Set([...needsRestart.filter((key) => key !== 'listen'), ...changed])];
}
