import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { Metrics } from '../../../metrics/metrics.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentCard } from '../../../protocol/card.ts';
import type { A2AError } from '../../../protocol/errors.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../server/node/serve.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { isLocalAgent, loadAgent } from '../../inputs/load-agent.ts';
import { type LogFormat, type CliLogs, openLogs } from '../../terminal/log.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { shutdownTimeout, stopOnSignals } from '../../process/shutdown.ts';
import { openStore, type OpenedStore } from '../../inputs/open-store.ts';
import { formatServeJson, formatServeText } from './summary.ts';

/** What `dragoman serve` is told. */
export interface ServeFlags {
  port: number;
  /** True when nobody asked for this very port, so that another will do. */
  mayMovePort: boolean;
  host: string;
  store?: string;
  basePath?: string;
  publicUrl?: string;
  lenientVersion?: boolean;
  allowLoopbackWebhooks?: boolean;
  output: 'text' | 'json';
  log?: LogFormat;
  metrics?: boolean;
}

/** Serves the agent of a module until a signal comes. */
export async function runServeCommand(module: string, flags: ServeFlags): Promise<void> {
  const basePath = basePathOf(flags.basePath);
  checkUrl(flags.publicUrl);
  const loaded = await loadAgent(module);
  const logs = await openLogs(flags.log);
  const metrics = flags.metrics ? new Metrics() : undefined;
  const store = flags.store === undefined ? undefined : await openStore(flags.store, { onLeaseLost: giveUp });
  const agent = isLocalAgent(loaded)
    ? rehouse(loaded, store, flags, { logs, metrics })
    : unlessStored(loaded, flags.store);
  const server = await listen(agent, flags, {
    host: flags.host,
    basePath,
    publicUrl: flags.publicUrl,
    lenientVersion: flags.lenientVersion,
    onError: logs.fault,
    log: logs.requests,
    metrics: metrics && { metrics },
  });
  stopOnSignals(async () => {
    await server.stop(shutdownTimeout);
    await agent.close?.();
    await store?.ledger[Symbol.asyncDispose]();
  }, printError);
  // Whoever reads the first line only may close the pipe; the agent is served on.
  process.stdout.on('error', () => {});
  // What programs read is one document.
  const head = flags.output === 'json' ? process.stderr : process.stdout;
  head.write(`listening on ${server.url}\n`);
  const url = `${server.url}${basePath}`;
  if (flags.output === 'json') {
    process.stdout.write(`${formatServeJson(url)}\n`);
    return;
  }
  const isInMemory = isLocalAgent(agent) && !agent.options.taskStore;
  const tasks = store?.place ?? (isInMemory ? 'in memory, until this stops' : undefined);
  process.stdout.write(`${formatServeText({ url, card: await cardOf(agent, logs), tasks })}\n`);
}

/** Ends, because another process took the tasks over: nothing that is done here could be kept. */
function giveUp(fault: A2AError): never {
  printError(fault);
  process.exit(1);
}

/** The card, if it can be had: an agent elsewhere may come up later than this one. */
async function cardOf(agent: Agent, logs: CliLogs): Promise<AgentCard | undefined> {
  try {
    return await agent.card();
  } catch (error) {
    logs.agent({ level: 'warn', message: 'The agent shows no card yet', error });
    return undefined;
  }
}

/** Listens, on the next best port if nobody asked for this one and it is taken. */
async function listen(agent: Agent, flags: ServeFlags, options: ServeOptions): Promise<RunningServer> {
  const { port, host } = flags;
  try {
    return await serve(agent, { ...options, port });
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'EADDRINUSE' && flags.mayMovePort) {
      const server = await serve(agent, { ...options, port: 0 });
      process.stderr.write(`info: port ${port} is in use, so this is port ${server.port}\n`);
      return server;
    }
    throw toListenError(cause, { port, host });
  }
}

/** Who looks at what is going on. */
interface Watching {
  logs: CliLogs;
  metrics: Metrics | undefined;
}

/** The same agent, on the chosen ledger and with somebody who listens to its log. */
function rehouse(
  agent: LocalAgent,
  store: OpenedStore | undefined,
  flags: ServeFlags,
  { logs, metrics }: Watching,
): LocalAgent {
  const { definition, options } = agent;
  const { push } = options;
  return defineAgent(definition, {
    ...options,
    push: flags.allowLoopbackWebhooks ? { ...push, egress: { ...push?.egress, allowLoopback: true } } : push,
    log: options.log ?? logs.agent,
    metrics: options.metrics ?? metrics,
    taskStore: store?.ledger ?? options.taskStore,
  });
}

function unlessStored(agent: Agent, store: string | undefined): Agent {
  if (store === undefined) return agent;
  throw new UsageError(
    'this agent keeps its tasks itself, so --store has no effect',
    'Leave --store out, or export an agent made by defineAgent.',
  );
}

function basePathOf(text = ''): string {
  const trimmed = text.replace(/\/+$/, '');
  if (trimmed === '' || /^\/[^\s?#]*$/.test(trimmed)) return trimmed;
  throw new UsageError(
    `"${text}" is no base path`,
    'A base path begins with a slash, as in --base-path /echo.',
  );
}

function checkUrl(text: string | undefined): void {
  if (text === undefined || /^https?:\/\/[^\s/]/.test(text)) return;
  throw new UsageError(
    `"${text}" is no address`,
    'Give the whole of it, as in --public-url https://agents.example.com.',
  );
}
