import { fileURLToPath } from 'node:url';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { defineAgent } from '../../../engine/local-agent.ts';
import { memoryTaskStore } from '../../../store/memory-task-store.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { LogSink } from '../../../primitives/log.ts';
import { withMovablePorts, readUpConfig } from '../../../up/up-config.ts';
import { runUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { createColors } from '../../terminal/colors.ts';
import { printValidFile, invalidFileError } from '../../terminal/print-diagnostics.ts';
import { isLocalAgent, loadAgent } from '../../inputs/load-agent.ts';
import { type LogFormat, openLogs } from '../../terminal/log.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import { formatUpJson, formatUpText } from './summary.ts';
import { watchUpConfig } from './watch-config.ts';

/** What `dragoman up` is told. */
export interface UpFlags {
  config?: string;
  check?: boolean;
  output: 'text' | 'json';
  log?: LogFormat;
}

/** The file of the samples, which come with the package. */
const sample = fileURLToPath(new URL('../../../../examples/up/dragoman.yaml', import.meta.url));

/** Starts everything, and stops it when a signal comes. */
export async function runUpCommand(flags: UpFlags): Promise<void> {
  const settings = await toldMistakes(() => read(flags.config));
  if (flags.check) {
    const agents = settings.gateway.agents.map(({ name }) => name);
    printValidFile({ file: settings.file, agents }, flags.output);
    return;
  }
  const { agent, requests, fault } = await openLogs(flags.log);
  // Whoever tries the samples looks at what was said, and sees in the console what was lost on the way.
  const isQuiet = settings.isSample && flags.log === undefined;
  const log: LogSink = (entry) => {
    if (!isQuiet || entry.level === 'error') agent(entry);
  };
  const notes: string[] = [];
  const running = await toldMistakes(() =>
    runUp(settings, {
      log,
      requestLog: flags.log === undefined ? undefined : requests,
      onError: fault,
      loadModule: async (file) => settled(await loadAgent(file), log),
      note: (text) => void notes.push(text),
    }),
  );
  const stopWatching =
    flags.config === undefined
      ? () => {}
      : watchUpConfig(running, flags.config, { read: () => read(flags.config), log });
  stopOnSignals(
    async () => {
      stopWatching();
      await running.stop();
    },
    printError,
    settings.gateway.drain,
  );
  // Whoever reads the first line only may close the pipe; everything goes on.
  process.stdout.on('error', () => {});
  if (flags.output === 'json') for (const note of notes) process.stderr.write(`info: ${note}\n`);
  const told =
    flags.output === 'json'
      ? formatUpJson(running)
      : formatUpText(running, notes, createColors(process.stdout));
  process.stdout.write(`${told}\n`);
}

async function read(config: string | undefined): Promise<UpSettings> {
  const file = config ?? sample;
  const text = readInputFile(file, 'Name a file with -c FILE, or leave it out for the samples.');
  const settings = readUpConfig(text, file, process.env);
  return config === undefined ? withMovablePorts(settings) : settings;
}

/** Does something with a file; what a person can put right is told with its place. */
async function toldMistakes<Done>(work: () => Promise<Done>): Promise<Done> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof DocumentError) throw invalidFileError(thrown);
    if (thrown instanceof A2AError && thrown.reason === 'INVALID_PARAMS' && thrown.hint !== undefined)
      throw new UsageError(thrown.message, thrown.hint);
    throw thrown;
  }
}

/** The same agent with somebody who listens to its log, and with a ledger that the console can look into. */
function settled(agent: Agent, log: LogSink): Agent {
  return isLocalAgent(agent)
    ? defineAgent(agent.definition, { log, taskStore: memoryTaskStore(), ...agent.options })
    : agent;
}
