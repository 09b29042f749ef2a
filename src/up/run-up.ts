import { memoryArtifactStore } from '../artifacts/stores/memory.ts';
import type { Bridge } from '../bridge/action-types.ts';
import { bridgeAgents } from '../bridge/bridge.ts';
import { serveMcp } from '../bridge/mcp/server/serve-mcp.ts';
import { connect, type RemoteAgent } from '../client/connect.ts';
import { type RunningConsole, serveConsole } from '../console/serve-console.ts';
import { type ReloadResult, type RunningGateway, runGateway } from '../gateway/run-gateway.ts';
import type { GatewayObservers } from '../gateway/config/server-options.ts';
import type { AgentSourceSettings, GatewaySettings } from '../gateway/gateway-settings.ts';
import { gatewayProductName } from '../gateway/telemetry/gateway-recorder.ts';
import { A2AError } from '../protocol/errors.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import { consoleProbeProduct } from '../tap/participants.ts';
import { TrafficLog } from '../tap/traffic-log.ts';
import { tapServer } from '../tap/recorders/tap-server.ts';
import { type HostedAgent, type HostingContext, startHosted } from './hosted-agent.ts';
import type { HostedSettings, PortSetting, UpSettings } from './up-settings.ts';

/** What everything is run with. */
export interface UpContext extends HostingContext, GatewayObservers {
  /** Hears, in plain words, of what is not as it was asked for: a port that is in use, a library that is missing. */
  readonly note: (text: string) => void;
}

/** Everything, running. */
export interface RunningUp {
  readonly settings: UpSettings;
  readonly gateway: RunningGateway;
  /** The agents that run here. */
  readonly hosted: readonly HostedAgent[];
  /** Where MCP is served, if it is. */
  readonly mcpUrl: string | undefined;
  /** Where the console is, with its token, if it is. */
  readonly consoleUrl: string | undefined;
  /** Goes over to other settings. Where that fails, everything goes on as it was. */
  reload(settings: UpSettings): Promise<ReloadResult>;
  /** Takes no more requests, lets running ones finish for a moment, and lets go of everything. */
  stop(): Promise<void>;
}

/** Starts agents, the gateway before them, and what shows them. */
export async function runUp(settings: UpSettings, tools: UpContext): Promise<RunningUp> {
  const running = new Running(settings, tools);
  try {
    await running.start();
  } catch (thrown) {
    await running.stop();
    throw thrown;
  }
  return running;
}

/** For how many milliseconds requests to an agent itself may finish. */
const patience = 100;

class Running implements RunningUp {
  settings: UpSettings;
  hosted: HostedAgent[] = [];
  mcpUrl: string | undefined = undefined;
  consoleUrl: string | undefined = undefined;
  readonly #tools: UpContext;
  readonly #tape = new TrafficLog();
  #console: RunningConsole | undefined = undefined;
  /** What MCP shows, and the connections that it goes through. */
  #bridge: { readonly actions: Bridge; agents: ConnectedAgent[] } | undefined = undefined;
  /** What stops what was started, in the order in which it was. */
  readonly #stops: (() => Promise<void>)[] = [];
  #gateway: RunningGateway | undefined = undefined;

  constructor(settings: UpSettings, tools: UpContext) {
    this.settings = settings;
    // What the gateway asks an agent is recorded there, and nobody wants to see the console look around.
    const watch = (name: string): TrafficObserver | undefined =>
      tapServer(this.#tape, { name, except: [gatewayProductName, consoleProbeProduct] }).onTraffic;
    this.#tools = { ...tools, watch };
  }

  get gateway(): RunningGateway {
    if (this.#gateway) return this.#gateway;
    throw new A2AError('UNSUPPORTED_OPERATION', 'It has not been started');
  }

  async start(): Promise<void> {
    this.#stops.push(async () => {
      await Promise.all(this.hosted.map((each) => each.stop(patience)));
    });
    for (const each of this.settings.hosted) this.hosted.push(await startHosted(each, this.#tools));
    await this.#startGateway();
    if (this.settings.mcp) await this.#startMcp(this.settings.mcp);
    if (this.settings.console) await this.#startConsole(this.settings.console);
  }

  async #startGateway(): Promise<void> {
    const { gateway, gatewayPort } = this.settings;
    const { log, requests, fault } = this.#tools;
    const running = await this.#listening('the gateway', gatewayPort, (port) =>
      runGateway(this.#addressed(gateway, port), { log, requests, fault, trafficLog: this.#tape }),
    );
    this.#gateway = running;
    this.#stops.push(() => running.stop());
  }

  async #startMcp(wish: PortSetting): Promise<void> {
    const { log, note } = this.#tools;
    const agents = this.#shownAgents().map(connected);
    const artifacts = memoryArtifactStore();
    const actions = await bridgeAgents(agents, { artifacts, log, whenUnreachable: 'retry' });
    const bridge = { actions, agents };
    this.#bridge = bridge;
    this.#stops.push(async () => {
      await actions.close();
      for (const { agent } of bridge.agents) await agent.close();
    });
    try {
      const running = await this.#listening('MCP', wish, (port) =>
        serveMcp(actions, { http: { port }, artifacts, log }),
      );
      this.mcpUrl = running.url;
      this.#stops.push(() => running.close());
    } catch (thrown) {
      // Everything else is worth having without it.
      if (!(thrown instanceof A2AError) || thrown.reason !== 'UNAVAILABLE') throw thrown;
      note(`no MCP before: ${thrown.hint ?? thrown.message}`);
    }
  }

  async #startConsole(wish: PortSetting): Promise<void> {
    const { metrics } = this.gateway;
    const agents = this.#consoleAgents();
    const running = await this.#listening('the console', wish, (port) =>
      serveConsole({
        agents,
        trafficLog: this.#tape,
        port,
        log: this.#tools.log,
        taskStore: () => this.hosted.flatMap(({ ledger }) => ledger ?? []),
        ...(metrics && { metrics }),
      }),
    );
    this.#console = running;
    this.consoleUrl = running.url;
    this.#stops.push(() => running.stop());
  }

  /** The agents as the console shows them: behind the gateway, and themselves. */
  #consoleAgents(): { url: string }[] {
    return [...this.#shownAgents(), ...this.hosted].map(({ url }) => ({ url }));
  }

  /** Lets those that show agents know which there are now. */
  async #tellOthers(): Promise<void> {
    await this.#console?.setAgents(this.#consoleAgents());
    const bridge = this.#bridge;
    if (!bridge) return;
    const before = bridge.agents;
    bridge.agents = this.#shownAgents().map(
      (shown) => before.find(({ agentName }) => agentName === shown.name) ?? connected(shown),
    );
    // An agent that is not there yet holds up nobody.
    const following = bridge.actions.setAgents(bridge.agents);
    following.catch((error: unknown) =>
      this.#tools.log({ level: 'error', message: 'MCP shows other agents than the file', error }),
    );
    for (const each of before) if (!bridge.agents.includes(each)) await each.agent.close();
  }

  /** The agents as the gateway shows them over HTTP. */
  #shownAgents(): { name: string; url: string }[] {
    const { url, settings } = this.gateway;
    if (url === undefined) return [];
    return settings.agents
      .filter(({ exposeOnHttp: onHttp }) => onHttp)
      .map(({ name }) => ({ name, url: `${url}/agents/${name}` }));
  }

  /** Starts something on the port that it was to have, or on any where nobody cares. */
  async #listening<Started>(
    what: string,
    { port, mayMove }: PortSetting,
    start: (port: number) => Promise<Started>,
  ): Promise<Started> {
    try {
      return await start(port);
    } catch (cause) {
      const { code } = cause as { code?: unknown };
      if (code === 'EADDRINUSE' && mayMove) {
        this.#tools.note(`port ${port} is in use, so ${what} has another`);
        return start(0);
      }
      if (code !== 'EADDRINUSE') throw cause;
      throw new A2AError('INVALID_PARAMS', `Port ${port} for ${what} is in use`, {
        cause,
        hint: `Give it another in ${this.settings.file}, or 0 for any free one.`,
      });
    }
  }

  /** The settings of the gateway, with the addresses of the agents that run here. */
  #addressed(gateway: GatewaySettings, port = gateway.listen?.port): GatewaySettings {
    const sources = new Map(this.hosted.map((each) => [each.settings.name, sourceOf(each)]));
    return {
      ...gateway,
      listen: gateway.listen && { ...gateway.listen, port: port ?? gateway.listen.port },
      agents: gateway.agents.map((each) => ({ ...each, source: sources.get(each.name) ?? each.source })),
    };
  }

  async reload(settings: UpSettings): Promise<ReloadResult> {
    const before = this.hosted;
    const kept = before.filter((each) => settings.hosted.some((wanted) => isSame(each.settings, wanted)));
    const started: HostedAgent[] = [];
    try {
      for (const wanted of settings.hosted)
        if (!kept.some((each) => isSame(each.settings, wanted)))
          started.push(await startHosted(wanted, this.#tools));
      this.hosted = [...kept, ...started];
      const reloaded = await this.gateway.reload(
        this.#addressed(settings.gateway, this.gateway.settings.listen?.port),
      );
      const later = laterOf(this.settings, settings, reloaded);
      this.settings = settings;
      await this.#tellOthers();
      await Promise.all(before.filter((each) => !kept.includes(each)).map((each) => each.stop(patience)));
      return { ...reloaded, needsRestart: later };
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

/** An agent, connected to. */
interface ConnectedAgent {
  readonly agentName: string;
  readonly agent: RemoteAgent;
}

function connected({ name, url }: { name: string; url: string }): ConnectedAgent {
  return { agentName: name, agent: connect(url) };
}

/** Where the gateway finds an agent that runs here. What it speaks need not be found out. */
function sourceOf({ settings: { name, speaks }, url }: HostedAgent): AgentSourceSettings {
  return { kind: 'url', config: { name, url, ...(speaks && { a2a_version: speaks }) } };
}

function isSame(a: HostedSettings, b: HostedSettings): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What of a change takes effect after a restart only. */
function laterOf(before: UpSettings, after: UpSettings, { needsRestart: later }: ReloadResult): string[] {
  const changed = (['gatewayPort', 'mcp', 'console'] as const)
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => (key === 'gatewayPort' ? 'listen' : key === 'mcp' ? 'bridge' : key));
  return [...new Set([...later.filter((key) => key !== 'listen'), ...changed])];
}
