import { parse } from 'node:path';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { Metrics } from '../../../metrics/metrics.ts';
import type { Agent } from '../../../protocol/agent.ts';
import type { AgentCard } from '../../../protocol/card.ts';
import type { A2AError } from '../../../protocol/errors.ts';
import { resolveGrpc } from '../../../server/grpc/grpc-options.ts';
import { type ServeOptions, serve } from '../../../server/node/serve.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { isDefinedAgent } from '../../../engine/copying-agent.ts';
import { findModule, loadAgent } from '../../inputs/load-agent.ts';
import { runWatched } from '../../process/watched/run-watched.ts';
import { joinWatch } from '../../process/watched/watched-process.ts';
import { type LogFormat, type CliLogs, openLogs } from '../../terminal/log.ts';
import { printError } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { exportTelemetry } from '../../process/export-telemetry.ts';
import { shutdownTimeout, stopOnSignals } from '../../process/shutdown.ts';
import { openStore, type OpenedStore } from '../../inputs/open-store.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import {
  type BrowserAccessFlags,
  type OutputFormat,
  toBrowserAccess,
  warnIfExposed,
} from '../../inputs/shared-options.ts';
import { credentialHeader, readAuthenticators } from './credentials-from-env.ts';
import { formatServeJson, formatServeText } from './summary.ts';
import { stripTrailing } from '../../../primitives/text.ts';

/** Flags of `dragoman serve`. */
export interface ServeFlags extends BrowserAccessFlags {
  port: number;
  /** True if --port was not set: another port is used if the default is taken. */
  mayMovePort: boolean;
  host: string;
  store?: string;
  basePath?: string;
  publicUrl?: string;
  lenientVersion?: boolean;
  preview?: '1.1';
  allowLoopbackWebhooks?: boolean;
  output: OutputFormat;
  log?: LogFormat;
  metrics?: boolean;
  otlp?: string;
  trustProxy?: string[];
  fastPath: boolean;
  grpc: boolean;
  /** Milliseconds. */
  notReady: number;
  /** Milliseconds. */
  drain: number;
  watch?: boolean;
  apiKeyFromEnv?: string[];
  bearerFromEnv?: string[];
}

/** Runs `dragoman serve` until a signal arrives. */
export async function runServeCommand(module: string, flags: ServeFlags): Promise<void> {
  const basePath = parseBasePath(flags.basePath);
  if (flags.publicUrl !== undefined) expectUrl(flags.publicUrl, '--public-url');
  const authenticators = readAuthenticators(flags);
  const watched = joinWatch();
  if (flags.watch && !watched) process.exit(await runWatched(findModule(module)));
  const logs = await openLogs(flags.log);
  const telemetry = await exportTelemetry(flags.otlp, parse(module).name, logs.agent);
  const loaded = await (watched ? watched.load(() => loadAgent(module)) : loadAgent(module));
  const before = await watched?.whenAllowed();
  const metrics = flags.metrics || telemetry ? new Metrics() : undefined;
  if (metrics) telemetry?.exportMetrics(metrics);
  const onOutage = reportOutage(logs);
  const onDamage = (error: A2AError): void =>
    logs.agent({ level: 'error', message: `${error.message}. ${error.hint ?? ''}`, error: error.cause });
  const store =
    flags.store === undefined
      ? undefined
      : await openStore(flags.store, {
          onLeaseLost: exitOnLostLease,
          onOutage,
          onDamage,
          onWakeUps: reportWakeUps(logs),
        });
  const agent = isDefinedAgent(loaded)
    ? redefineAgent(loaded, store, flags, { logs, metrics })
    : rejectStore(loaded, flags.store);
  const options: ServeOptions = {
    host: flags.host,
    ...(authenticators.length > 0 && { auth: { authenticators } }),
    ...toBrowserAccess(flags),
    ...(flags.trustProxy && { trustProxy: flags.trustProxy }),
    ...(!flags.fastPath && { fastPath: false }),
    ...(!flags.grpc && { grpc: false }),
    // A changed module takes over at once.
    drain: watched ? { notReady: 0, tasks: 0 } : { notReady: flags.notReady, tasks: flags.drain },
    basePath,
    publicUrl: flags.publicUrl,
    lenientVersion: flags.lenientVersion,
    ...(flags.preview && { preview: flags.preview }),
    onError: logs.fault,
    log: logs.requests,
    // An empty path serves no page.
    metrics: metrics && { metrics, ...(!flags.metrics && { path: '' }) },
  };
  const address = before?.port === undefined ? flags : { ...flags, port: before.port, mayMovePort: false };
  const server = await startListening(address, (port) => serve(agent, { ...options, port }));
  if (address.mayMovePort && server.port !== flags.port)
    process.stderr.write(`info: Port ${flags.port} is in use; using port ${server.port}\n`);
  stopOnSignals(
    async () => {
      await server.stop(shutdownTimeout);
      await agent.close?.();
      await store?.taskStore[Symbol.asyncDispose]();
      await telemetry?.stop();
    },
    printError,
    flags.notReady + flags.drain + shutdownTimeout,
  );
  await watched?.listening(server.port);
  if (authenticators.length === 0) warnIfExposed(flags.host);
  // The agent stays available if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  // With -o json, standard output contains exactly one document.
  const head = flags.output === 'json' ? process.stderr : process.stdout;
  if (before?.port !== undefined) {
    process.stderr.write(`info: Reloaded ${server.url}\n`);
    return;
  }
  head.write(`listening on ${server.url}\n`);
  const url = `${server.url}${basePath}`;
  if (flags.output === 'json') {
    process.stdout.write(`${formatServeJson(url)}\n`);
    return;
  }
  const isInMemory = isDefinedAgent(agent) && !agent.options.taskStore;
  const tasks = store?.location ?? (isInMemory ? 'in memory, until this process stops' : undefined);
  const summary = {
    url,
    card: await loadCard(agent, logs),
    tasks,
    credentials: credentialHeader(flags),
    hasGrpc: basePath === '' && resolveGrpc(options.grpc) !== undefined,
  };
  process.stdout.write(`${formatServeText(summary)}\n`);
}

/** Exits because another process has taken over the task store: nothing more could be stored. */
function exitOnLostLease(error: A2AError): never {
  printError(error);
  process.exit(1);
}

/** Logs whether other replicas notify this one of changes. */
function reportWakeUps(logs: CliLogs): (isActive: boolean) => void {
  return (isActive) => {
    const message = isActive
      ? 'Other replicas notify this one of changes'
      : 'Notifications of the database do not arrive, perhaps because of a connection pooler; reading every second';
    logs.agent({ level: isActive ? 'info' : 'warn', message });
  };
}

/** Logs the start and the end of an outage of the task store. */
function reportOutage(logs: CliLogs): (error?: A2AError) => void {
  return (error) => {
    const message = error
      ? 'The task store cannot be written; retrying'
      : 'The task store can be written again';
    logs.agent({ level: error ? 'error' : 'info', message, ...(error && { error: error.cause }) });
  };
}

/** Returns the card, or undefined if the agent is remote and not available yet. */
async function loadCard(agent: Agent, logs: CliLogs): Promise<AgentCard | undefined> {
  try {
    return await agent.card();
  } catch (error) {
    logs.agent({ level: 'warn', message: 'The card of the agent is not available yet', error });
    return undefined;
  }
}

interface Telemetry {
  logs: CliLogs;
  metrics: Metrics | undefined;
}

/** Defines the agent again with the task store, log and metrics of the command line. */
function redefineAgent(
  agent: LocalAgent,
  store: OpenedStore | undefined,
  flags: ServeFlags,
  { logs, metrics }: Telemetry,
): LocalAgent {
  const { definition, options } = agent;
  const { push } = options;
  return defineAgent(definition, {
    ...options,
    push: flags.allowLoopbackWebhooks ? { ...push, egress: { ...push?.egress, allowLoopback: true } } : push,
    log: options.log ?? logs.agent,
    metrics: options.metrics ?? metrics,
    taskStore: store?.taskStore ?? options.taskStore,
  });
}

/** @throws {@link UsageError} if `--store` is set, because only agents of `defineAgent` use it. */
function rejectStore(agent: Agent, store: string | undefined): Agent {
  if (store === undefined) return agent;
  throw new UsageError(
    '--store has no effect: the agent manages its tasks itself',
    'Omit --store, or export an agent created by defineAgent.',
  );
}

function parseBasePath(text = ''): string {
  const trimmed = stripTrailing(text, '/');
  if (trimmed === '' || /^\/[^\s?#]*$/.test(trimmed)) return trimmed;
  throw new UsageError(`Invalid base path "${text}"`, 'Start it with a slash, as in --base-path /echo.');
}
