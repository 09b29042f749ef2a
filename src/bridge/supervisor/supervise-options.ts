import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../client/abortable-sleep.ts';
import type { Credentials } from '../../client/credentials.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { readEnvFile } from './env-file.ts';
import { launchWithReaper, type LaunchProcess, type ProgramSpec } from './launch-process.ts';
import type { OutputLine } from './process-output.ts';
import { cardProbe, type ReadinessProbe } from './readiness.ts';
import { splitCommand } from './split-command.ts';

/** What to look after, and how. All times are in milliseconds. */
export interface SuperviseOptions {
  /** Where the agent is, once it runs. */
  url: string;
  /**
   * Starts the agent: a command line (quotes count, but there is no shell), or its words. Without it, an agent that
   * somebody else started is waited for.
   */
  command?: string | readonly string[];
  /** Where the command runs. @defaultValue the working directory of this process */
  workingDir?: string;
  /** More environment for the command, over what this process has; undefined takes a name away. */
  env?: { readonly [name: string]: string | undefined };
  /** A file of `NAME=value` lines, over `env`. Read again at each start. */
  envFile?: string;
  /** For how long the agent may take until it answers. @defaultValue 30 000 */
  startupTimeout?: number;
  /** Starts the agent again when it ends with another exit code than 0, or by a signal. @defaultValue true */
  restartOnCrash?: boolean;
  /** Starts it again when it ends with exit code 0, too. @defaultValue false */
  restartOnExit?: boolean;
  /** How often in a row it is started again. @defaultValue 5 */
  maxRestarts?: number;
  /** The first pause before it is started again; each further one is twice as long. @defaultValue 1000 */
  minDelay?: number;
  /** The longest pause. @defaultValue 30 000 */
  maxDelay?: number;
  /** After how long without an end the counting of restarts begins anew. @defaultValue 60 000 */
  healthyAfter?: number;
  /** How long it has to end by itself when it is stopped, before it is killed. @defaultValue 5000 */
  stopTimeout?: number;
  /** How many characters of what it printed are kept. @defaultValue 65 536 */
  maxOutputCharacters?: number;
  /** Credentials for the card, where it needs them. */
  auth?: Credentials;
  /** Takes each line that the agent prints. */
  onOutput?: (line: OutputLine) => void;
  /** Takes what happens to it: starts, ends, failures. */
  log?: LogSink;
  /** The file of the guard, for programs that are bundled into one file. @defaultValue the one of this package */
  reaperPath?: string | URL;
  /** Asks whether the agent is there, instead of asking for its card. */
  probe?: ReadinessProbe;
  /** Starts programs, instead of the guard. For tests. */
  launch?: LaunchProcess;
  clock?: Clock;
}

/** The options with everything filled in. */
export interface SupervisorSettings {
  readonly url: string;
  /** What to run, made anew for each start; undefined where somebody else starts the agent. */
  readonly program: (() => ProgramSpec) | undefined;
  readonly startupTimeout: number;
  readonly restartOnCrash: boolean;
  readonly restartOnExit: boolean;
  readonly maxRestarts: number;
  readonly minDelay: number;
  readonly maxDelay: number;
  readonly healthyAfter: number;
  readonly stopTimeout: number;
  readonly keepOutput: number;
  readonly onOutput: (line: OutputLine) => void;
  readonly log: LogSink;
  readonly probe: ReadinessProbe;
  readonly launch: LaunchProcess;
  readonly clock: Clock;
}

/** Fills in the defaults. */
export function resolveSupervisorSettings(options: SuperviseOptions): SupervisorSettings {
  const { url, clock = systemClock } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalidField('url', 'must be a whole address, such as http://localhost:4000');
  const guard = options.reaperPath ?? new URL('./orphan-reaper.js', import.meta.url);
  return {
    url,
    program: programOf(options),
    startupTimeout: positive('startupTimeout', options.startupTimeout ?? 30_000),
    restartOnCrash: options.restartOnCrash ?? true,
    restartOnExit: options.restartOnExit ?? false,
    maxRestarts: options.maxRestarts ?? 5,
    minDelay: options.minDelay ?? 1000,
    maxDelay: options.maxDelay ?? 30_000,
    healthyAfter: options.healthyAfter ?? 60_000,
    stopTimeout: positive('stopTimeout', options.stopTimeout ?? 5000),
    keepOutput: options.maxOutputCharacters ?? 65_536,
    onOutput: options.onOutput ?? (() => {}),
    log: options.log ?? (() => {}),
    probe: options.probe ?? cardProbe(url, options.auth),
    launch: options.launch ?? launchWithReaper(guard, clock),
    clock,
  };
}

function positive(name: string, milliseconds: number): number {
  if (!(milliseconds > 0)) throw invalidField(name, 'must be more than 0 milliseconds');
  return milliseconds;
}

function programOf({
  command,
  workingDir = '.',
  env,
  envFile,
}: SuperviseOptions): (() => ProgramSpec) | undefined {
  if (command === undefined) return undefined;
  const argv = typeof command === 'string' ? splitCommand(command) : wordsOf(command);
  const cwd = resolve(workingDir);
  return () => {
    // Otherwise the program would be said to be missing.
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw invalidField('workingDir', `must be a directory, and ${cwd} is none`);
    return { argv, cwd, env: { ...process.env, ...env, ...(envFile && fromFile(resolve(envFile))) } };
  };
}

function wordsOf(command: readonly string[]): [string, ...string[]] {
  const [program, ...rest] = command;
  if (program === undefined || program === '') throw invalidField('command', 'names no program');
  return [program, ...rest];
}

function fromFile(file: string): { [name: string]: string } {
  try {
    return readEnvFile(readFileSync(file, 'utf8'), file);
  } catch (cause) {
    const hint = (cause as Error).message;
    throw new A2AError('INVALID_PARAMS', `The environment file ${file} cannot be read`, { cause, hint });
  }
}
