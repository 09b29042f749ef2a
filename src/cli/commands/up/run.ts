import { fileURLToPath } from 'node:url';
import { defineAgent } from '../../../engine/local-agent.ts';
import type { TaskStore } from '../../../store/task-store.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { LogSink } from '../../../primitives/log.ts';
import { withMovablePorts, readUpConfig } from '../../../up/up-config.ts';
import { runUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { createColors } from '../../terminal/colors.ts';
import { printValidFile, toInvalidFileError } from '../../terminal/print-diagnostics.ts';
import { isDefinedAgent } from '../../../engine/copying-agent.ts';
import { loadAgent } from '../../inputs/load-agent.ts';
import { type LogFormat, openLogs } from '../../terminal/log.ts';
import { printError } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { exportTelemetry } from '../../process/export-telemetry.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { resolveStore } from '../../inputs/open-store.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import { type OutputFormat, sessionOptions, warnIfExposed } from '../../inputs/shared-options.ts';
import { formatUpJson, formatUpText } from './summary.ts';
import { watchUpConfig } from './watch-config.ts';

/** Flags of `dragoman up`. */
export interface UpFlags {
  config?: string;
  check?: boolean;
  store?: string;
  sessions?: string;
  output: OutputFormat;
  log?: LogFormat;
  otlp?: string;
}

/** Configuration of the sample agents, part of the package. */
const sampleFile = fileURLToPath(new URL('../../../../examples/up/dragoman.yaml', import.meta.url));

/** Runs `dragoman up` until a signal arrives, or validates its file with `--check`. */
export async function runUpCommand(flags: UpFlags): Promise<void> {
  const settings = await withUsageErrors(() => readConfig(flags));
  if (flags.check) {
    const agents = settings.gateway.agents.map(({ name }) => name);
    printValidFile(settings.file, agents, flags.output);
    return;
  }
  const { agent, requests, fault } = await openLogs(flags.log);
  // The samples log only errors: the console shows their translation losses.
  const isQuiet = settings.isSample && flags.log === undefined;
  const log: LogSink = (entry) => {
    if (!isQuiet || entry.level === 'error') agent(entry);
  };
  const telemetry = await exportTelemetry(flags.otlp ?? settings.gateway.otlp, 'dragoman-up', agent);
  const notes: string[] = [];
  const running = await withUsageErrors(() =>
    runUp(settings, {
      log,
      requestLog: flags.log === undefined ? undefined : requests,
      onError: fault,
      loadModule: async (file, openTaskStore) => redefineAgent(await loadAgent(file), log, openTaskStore),
      ...sessionOptions(flags),
      note: (text) => void notes.push(text),
    }),
  );
  if (running.gateway.metrics) telemetry?.exportMetrics(running.gateway.metrics);
  const stopWatching =
    flags.config === undefined
      ? () => {}
      : watchUpConfig(running, flags.config, { readConfig: () => readConfig(flags), log });
  stopOnSignals(
    async () => {
      stopWatching();
      await running.stop();
      await telemetry?.stop();
    },
    printError,
    settings.gateway.notReady + settings.gateway.drain,
  );
  const { auth, listen } = settings.gateway;
  if (!auth && listen) warnIfExposed(listen.host);
  // Everything keeps running if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  if (flags.output === 'json') for (const note of notes) process.stderr.write(`info: ${note}\n`);
  const summary =
    flags.output === 'json'
      ? formatUpJson(running)
      : formatUpText(running, notes, createColors(process.stdout));
  process.stdout.write(`${summary}\n`);
}

async function readConfig({ config, store }: UpFlags): Promise<UpSettings> {
  const file = config ?? sampleFile;
  const text = readInputFile(file, 'Name a file with -c FILE, or omit it for the samples.');
  const read = readUpConfig(text, file, process.env);
  const settings =
    store === undefined ? read : { ...read, gateway: { ...read.gateway, store: resolveStore(store) } };
  return config === undefined ? withMovablePorts(settings) : settings;
}

/** Runs work and converts errors in the configuration to usage errors. */
async function withUsageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof A2AError && thrown.reason === 'INVALID_PARAMS' && thrown.hint !== undefined)
      throw new UsageError(thrown.message, thrown.hint);
    throw toInvalidFileError(thrown);
  }
}

/** Defines the agent again with a log and a task store that the console can read. */
async function redefineAgent(
  agent: Agent,
  log: LogSink,
  openTaskStore: () => Promise<TaskStore>,
): Promise<Agent> {
  if (!isDefinedAgent(agent)) return agent;
  const taskStore = agent.options.taskStore ?? (await openTaskStore());
  return defineAgent(agent.definition, { log, ...agent.options, taskStore });
}
