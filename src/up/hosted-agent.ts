import { readFile } from 'node:fs/promises';
import type { LocalAgent } from '../engine/local-agent.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { Agent } from '../protocol/agent.ts';
import type { LogSink } from '../primitives/log.ts';
import { type RunningServer, serve } from '../server/node/serve.ts';
import { TestAgentServer } from '../testkit/test-agent-server.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import type { HostedSettings } from './up-settings.ts';

/** What agents that run here are given. */
export interface HostingContext {
  /** Loads the agent of a JavaScript file. */
  readonly loadModule: (file: string) => Promise<Agent>;
  readonly log: LogSink;
  /** Watches what an agent is asked and what it answers. */
  readonly watch?: (name: string) => TrafficObserver | undefined;
}

/** An agent that runs here, on a port of its own. */
export interface HostedAgent {
  readonly settings: HostedSettings;
  /** Where it is itself. */
  readonly url: string;
  /** Where its tasks are kept, where that is known. */
  readonly ledger?: TaskStore;
  /** Reads its script again; undefined where a change takes effect after a restart only. */
  readonly readAgain?: () => Promise<void>;
  /** Ends what is under way, and stops. */
  stop(within: number): Promise<void>;
}

/**
 * Starts an agent as its settings say.
 *
 * @throws DocumentError when its script is wrong.
 */
export function startHosted(settings: HostedSettings, tools: HostingContext): Promise<HostedAgent> {
  return settings.kind === 'script' ? startScript(settings, tools) : startModule(settings, tools);
}

async function startScript(settings: HostedSettings, { watch }: HostingContext): Promise<HostedAgent> {
  const { file, port, speaks, name } = settings;
  const onWire = watch?.(name);
  const server = await TestAgentServer.start({
    scriptFile: file,
    port,
    onlyVersion: speaks,
    admin: false,
    ...(onWire && { onTraffic: onWire }),
  });
  return {
    settings,
    url: server.url,
    readAgain: async () => server.load(await readFile(file, 'utf8'), file),
    stop: () => server.stop(),
  };
}

async function startModule(settings: HostedSettings, tools: HostingContext): Promise<HostedAgent> {
  const { file, port, speaks, name } = settings;
  const agent = await tools.loadModule(file);
  const onError = (error: unknown): void => tools.log({ level: 'error', message: name, error });
  let server: RunningServer;
  try {
    const onWire = tools.watch?.(name);
    server = await serve(agent, { port, onlyVersion: speaks, onError, ...(onWire && { onTraffic: onWire }) });
  } catch (thrown) {
    await agent.close?.();
    throw thrown;
  }
  const { options } = agent as Partial<LocalAgent>;
  return {
    settings,
    url: server.url,
    ...(options?.taskStore && { ledger: options.taskStore }),
    async stop(within) {
      await server.stop(within);
      await agent.close?.();
    },
  };
}
