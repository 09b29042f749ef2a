import { readFile } from 'node:fs/promises';
import type { LocalAgent } from '../engine/local-agent.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { Agent } from '../protocol/agent.ts';
import type { LogSink } from '../primitives/log.ts';
import { type RunningServer, serve } from '../server/node/serve.ts';
import { TestAgentServer } from '../testkit/test-agent-server.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import type { HostedSettings } from './up-settings.ts';

/** Collaborators of {@link startHosted}. */
export interface HostingContext {
  /** Loads the agent of a JavaScript file. */
  readonly loadModule: (file: string) => Promise<Agent>;
  readonly log: LogSink;
  /** Returns an observer that records the traffic of an agent. */
  readonly observeTraffic?: (name: string) => TrafficObserver | undefined;
}

/** A running agent of this process, with its own port. */
export interface HostedAgent {
  readonly settings: HostedSettings;
  /** URL of the agent itself, not of the gateway. */
  readonly url: string;
  /** Task store of the agent, if it exposes one. */
  readonly taskStore?: TaskStore;
  /** Reads the script again. Undefined for modules, which need a restart. */
  readonly reload?: () => Promise<void>;
  /** Drains requests for at most `drainTimeout` milliseconds and stops. */
  stop(drainTimeout: number): Promise<void>;
}

/**
 * Starts an agent from a module or a script.
 *
 * @throws DocumentError if the script is invalid.
 */
export function startHosted(settings: HostedSettings, context: HostingContext): Promise<HostedAgent> {
  return settings.kind === 'script' ? startScript(settings, context) : startModule(settings, context);
}

async function startScript(
  settings: HostedSettings,
  { observeTraffic }: HostingContext,
): Promise<HostedAgent> {
  const { file, port, onlyVersion, name } = settings;
  const onTraffic = observeTraffic?.(name);
  const server = await TestAgentServer.start({
    scriptFile: file,
    port,
    onlyVersion,
    admin: false,
    ...(onTraffic && { onTraffic }),
  });
  return {
    settings,
    url: server.url,
    reload: async () => server.load(await readFile(file, 'utf8'), file),
    stop: () => server.stop(),
  };
}

async function startModule(settings: HostedSettings, context: HostingContext): Promise<HostedAgent> {
  const { file, port, onlyVersion, name } = settings;
  const agent = await context.loadModule(file);
  const onError = (error: unknown): void => context.log({ level: 'error', message: name, error });
  let server: RunningServer;
  try {
    const onTraffic = context.observeTraffic?.(name);
    server = await serve(agent, { port, onlyVersion, onError, ...(onTraffic && { onTraffic }) });
  } catch (thrown) {
    await agent.close?.();
    throw thrown;
  }
  const { options } = agent as Partial<LocalAgent>;
  return {
    settings,
    url: server.url,
    ...(options?.taskStore && { taskStore: options.taskStore }),
    async stop(drainTimeout) {
      await server.stop(drainTimeout);
      await agent.close?.();
    },
  };
}
