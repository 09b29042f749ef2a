import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { Credentials } from '../../client/credentials.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { readEnvFile } from './env-file.ts';
import { launchWithReaper, type LaunchProcess, type ProgramSpec } from './launch-process.ts';
import type { OutputLine } from './process-output.ts';
import { cardProbe, type ReadinessProbe } from './readiness.ts';
import { checkProgram, splitCommand } from './split-command.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Options of {@link supervise}. All times are in milliseconds. */
export interface SuperviseOptions {
  /** URL of the agent. */
  url: string;
  /**
   * Command that starts the agent: a command line (with quotes, but without a shell), or a list of arguments. Without a
   * command the agent must be running already.
   */
  command?: string | readonly string[];
  /** Working directory of the command. @defaultValue the working directory of this process */
  workingDir?: string;
  /** Environment variables that override those of this process; undefined removes a variable. */
  env?: { readonly [name: string]: string | undefined };
  /** File of `NAME=value` lines that override `env`. Read at each start. */
  envFile?: string;
  /** Time until the agent must respond after its start. @defaultValue 30 000 */
  startupTimeout?: number;
  /** Restarts the agent after a non-zero exit code or a signal. @defaultValue true */
  restartOnCrash?: boolean;
  /** Restarts the agent after exit code 0. @defaultValue false */
  restartOnExit?: boolean;
  /** Maximum number of consecutive restarts. @defaultValue 5 */
  maxRestarts?: number;
  /** Delay before the first restart; doubles with each further one. @defaultValue 1000 */
  minDelay?: number;
  /** Upper bound of the delay. @defaultValue 30 000 */
  maxDelay?: number;
  /** Uptime after which the count of consecutive restarts is reset. @defaultValue 60 000 */
  healthyAfter?: number;
  /** Time between SIGTERM and SIGKILL. @defaultValue 5000 */
  stopTimeout?: number;
  /** Number of retained characters of output. @defaultValue 65 536 */
  maxOutputCharacters?: number;
  /** Credentials for the card, if required. */
  auth?: Credentials;
  /** Called with each line of output. */
  onOutput?: (line: OutputLine) => void;
  /** Receives starts, exits and failures. */
  log?: LogSink;
  /** Path of the orphan reaper script, for bundled programs. @defaultValue the script of this package */
  reaperPath?: string | URL;
  /** Readiness probe. @defaultValue fetches the card */
  probe?: ReadinessProbe;
  /** Starts programs. Replaceable in tests. @defaultValue through the orphan reaper */
  launch?: LaunchProcess;
  clock?: Clock;
}

/** Options with defaults applied. */
export interface SupervisorSettings
  extends Required<
    Omit<SuperviseOptions, 'command' | 'workingDir' | 'env' | 'envFile' | 'auth' | 'reaperPath'>
  > {
  /** Creates the program of each start; undefined if the agent is started elsewhere. */
  readonly program: (() => ProgramSpec) | undefined;
}

/** Applies the defaults. @throws A2AError `INVALID_PARAMS` */
export function resolveSupervisorSettings(options: SuperviseOptions): SupervisorSettings {
  const { url, clock = systemClock } = options;
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? ''))
    throw invalidField('url', 'must be an absolute URL, such as http://localhost:4000');
  const reaperPath = options.reaperPath ?? new URL('./orphan-reaper.js', import.meta.url);
  return {
    url,
    program: createProgram(options),
    startupTimeout: checkPositive('startupTimeout', options.startupTimeout ?? 30_000),
    restartOnCrash: options.restartOnCrash ?? true,
    restartOnExit: options.restartOnExit ?? false,
    maxRestarts: options.maxRestarts ?? 5,
    minDelay: options.minDelay ?? 1000,
    maxDelay: options.maxDelay ?? 30_000,
    healthyAfter: options.healthyAfter ?? 60_000,
    stopTimeout: checkPositive('stopTimeout', options.stopTimeout ?? 5000),
    maxOutputCharacters: options.maxOutputCharacters ?? 65_536,
    onOutput: options.onOutput ?? (() => {}),
    log: options.log ?? (() => {}),
    probe: options.probe ?? cardProbe(url, options.auth),
    launch: options.launch ?? launchWithReaper(reaperPath, clock),
    clock,
  };
}

function checkPositive(name: string, milliseconds: number): number {
  if (!(milliseconds > 0)) throw invalidField(name, 'must be more than 0 milliseconds');
  return milliseconds;
}

function createProgram(options: SuperviseOptions): (() => ProgramSpec) | undefined {
  const { command, workingDir = '.', env, envFile } = options;
  if (command === undefined) return undefined;
  const argv = typeof command === 'string' ? splitCommand(command) : checkProgram(command);
  const cwd = resolve(workingDir);
  return () => {
    // Otherwise spawn would report the program as missing.
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw invalidField('workingDir', `must be a directory: ${cwd}`);
    return { argv, cwd, env: { ...process.env, ...env, ...(envFile && readEnvironment(resolve(envFile))) } };
  };
}

function readEnvironment(file: string): { [name: string]: string } {
  try {
    return readEnvFile(readFileSync(file, 'utf8'), file);
  } catch (cause) {
    const hint = (cause as Error).message;
    throw new A2AError('INVALID_PARAMS', `Cannot read the environment file ${file}`, { cause, hint });
  }
}
