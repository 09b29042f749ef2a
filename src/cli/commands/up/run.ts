import { fileURLToPath } from 'node:url';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { defineAgent } from '../../../engine/local-agent.ts';
import { memoryLedger } from '../../../store/memory-task-store.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Log } from '../../../primitives/log.ts';
import { asSample, readUpConfig } from '../../../up/up-config.ts';
import { runUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { coloursFor } from '../../terminal/colors.ts';
import { tellRight, wrongFile } from '../../terminal/print-diagnostics.ts';
import { isLocal, loadAgent } from '../../inputs/load-agent.ts';
import { type LogForm, openLogs } from '../../terminal/log.ts';
import { complain, Mistake } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { textOfFile } from '../../inputs/read-input-file.ts';
import { jsonOf, textOfUp } from './summary.ts';
import { watchUp } from './watch-config.ts';

/** What `dragoman up` is told. */
export interface UpFlags {
  config?: string;
  check?: boolean;
  output: 'text' | 'json';
  log?: LogForm;
}

/** The file of the samples, which come with the package. */
const sample = fileURLToPath(new URL('../../../../examples/up/dragoman.yaml', import.meta.url));

/** Starts everything, and stops it when a signal comes. */
export async function up(flags: UpFlags): Promise<void> {
  const settings = await toldMistakes(() => read(flags.config));
  if (flags.check) {
    const agents = settings.gateway.agents.map(({ name }) => name);
    tellRight({ file: settings.file, agents }, flags.output);
    return;
  }
  const { agent, requests, fault } = await openLogs(flags.log);
  // Whoever tries the samples looks at what was said, and sees in the console what was lost on the way.
  const isQuiet = settings.isSample && flags.log === undefined;
  const log: Log = (entry) => {
    if (!isQuiet || entry.level === 'error') agent(entry);
  };
  const notes: string[] = [];
  const running = await toldMistakes(() =>
    runUp(settings, {
      log,
      requests: flags.log === undefined ? undefined : requests,
      fault,
      loadModule: async (file) => settled(await loadAgent(file), log),
      note: (text) => void notes.push(text),
    }),
  );
  const stopWatching =
    flags.config === undefined
      ? () => {}
      : watchUp(running, flags.config, { read: () => read(flags.config), log });
  stopOnSignals(
    async () => {
      stopWatching();
      await running.stop();
    },
    complain,
    settings.gateway.drain,
  );
  // Whoever reads the first line only may close the pipe; everything goes on.
  process.stdout.on('error', () => {});
  if (flags.output === 'json') for (const note of notes) process.stderr.write(`info: ${note}\n`);
  const told =
    flags.output === 'json' ? jsonOf(running) : textOfUp(running, notes, coloursFor(process.stdout));
  process.stdout.write(`${told}\n`);
}

async function read(config: string | undefined): Promise<UpSettings> {
  const file = config ?? sample;
  const text = textOfFile(file, 'Name a file with -c FILE, or leave it out for the samples.');
  const settings = readUpConfig(text, file, process.env);
  return config === undefined ? asSample(settings) : settings;
}

/** Does something with a file; what a person can put right is told with its place. */
async function toldMistakes<Done>(work: () => Promise<Done>): Promise<Done> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof DocumentError) throw wrongFile(thrown);
    if (thrown instanceof A2AError && thrown.reason === 'INVALID_PARAMS' && thrown.hint !== undefined)
      throw new Mistake(thrown.message, thrown.hint);
    throw thrown;
  }
}

/** The same agent with somebody who listens to its log, and with a ledger that the console can look into. */
function settled(agent: Agent, log: Log): Agent {
  return isLocal(agent)
    ? defineAgent(agent.definition, { log, ledger: memoryLedger(), ...agent.options })
    : agent;
}
