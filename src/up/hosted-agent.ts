import { readFile } from 'node:fs/promises';
import type { LocalAgent } from '../engine/local-agent.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { Agent } from '../protocol/agent.ts';
import type { LogSink } from '../primitives/log.ts';
import { type RunningServer, serve } from '../server/node/serve.ts';
import { TestAgentServer } from '../testkit/test-agent-server.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import { openTaskStore } from '../store/url/open-task-store.ts';
import type { StoreUrl } from '../store/url/parse-store-url.ts';
import { storeOfAgent } from '../store/url/store-of-agent.ts';
import type { HostedSettings } from './up-settings.ts';

/** Collaborators of {@link startHosted}. */
export interface HostingContext {
  /** Loads the agent of a JavaScript file. It opens the task store if the agent has none of its own. */
  readonly loadModule: (file: string, openTaskStore: () => Promise<TaskStore>) => Promise<Agent>;
  /** Store of the tasks of all agents; each gets a file or schema of its own. */
  readonly store: StoreUrl;
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
  { observeTraffic, store }: HostingContext,
): Promise<HostedAgent> {
  const { file, port, onlyVersion, name } = settings;
  const onTraffic = observeTraffic?.(name);
  const taskStore = await openHostedStore(store, name);
  try {
    const server = await TestAgentServer.start({
      scriptFile: file,
      port,
      onlyVersion,
      admin: false,
      taskStore,
      ...(onTraffic && { onTraffic }),
    });
    return {
      settings,
      url: server.url,
      taskStore,
      reload: async () => server.load(await readFile(file, 'utf8'), file),
      async stop() {
        await server.stop();
        await taskStore[Symbol.asyncDispose]();
      },
    };
  } catch (thrown) {
    await taskStore[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function startModule(settings: HostedSettings, context: HostingContext): Promise<HostedAgent> {
  const { file, port, onlyVersion, name } = settings;
  let opened: TaskStore | undefined;
  const agent = await context.loadModule(file, async () => {
    opened = await openHostedStore(context.store, name);
    return opened;
  });
  const onError = (error: unknown): void => context.log({ level: 'error', message: name, error });
  let server: RunningServer;
  try {
    const onTraffic = context.observeTraffic?.(name);
    server = await serve(agent, { port, onlyVersion, onError, ...(onTraffic && { onTraffic }) });
  } catch (thrown) {
    await agent.close?.();
    await opened?.[Symbol.asyncDispose]();
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
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** A file is shared, because after a change of its settings an agent starts before its predecessor stops. */
function openHostedStore(store: StoreUrl, name: string): Promise<TaskStore> {
  const url = storeOfAgent(store, name);
  return openTaskStore(url.kind === 'sqlite' ? { ...url, shared: true } : url);
}
