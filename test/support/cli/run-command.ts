import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository. */
export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The entry file of the built command. */
export const cliEntry = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** Exit code and output of a program. */
export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running child process with its output so far. */
export class RunningCommand {
  stdout = '';
  stderr = '';
  readonly process: ChildProcess;
  readonly ended: Promise<CommandResult>;
  #waiting: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.process = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#wake();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    this.ended = once(child, 'close').then(([code]) => {
      this.#wake();
      return { code: code as number | null, stdout: this.stdout, stderr: this.stderr };
    });
  }

  /** Waits until the output matches a pattern. Rejects if the process exits before that. */
  async prints(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this[stream]);
      if (match) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`The process exited before it printed ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** Sends a signal and waits for the exit. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<CommandResult> {
    this.process.kill(signal);
    return this.ended;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** Working directory and additional environment variables of a process. */
export interface CommandEnvironment {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** Runs Node.js. */
export function runNode(
  args: readonly string[],
  { cwd = repositoryRoot, env = {} }: CommandEnvironment = {},
): RunningCommand {
  return new RunningCommand(spawn(process.execPath, args, { cwd, env: { ...userEnvironment(), ...env } }));
}

/** Returns the environment of a shell that finds the command, whether or not npm runs the tests. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const { npm_command: _, ...others } = process.env;
  return { ...others, PATH: `${join(repositoryRoot, 'node_modules', '.bin')}${delimiter}${others['PATH']}` };
}

/** Runs the built command. */
export function runDragoman(args: readonly string[], environment: CommandEnvironment = {}): RunningCommand {
  return runNode([cliEntry, ...args], environment);
}

/** Serves a module with `dragoman serve` on a free port and returns its URL. */
export async function serveModule(
  module: string,
  flags: readonly string[] = [],
  environment: CommandEnvironment = {},
): Promise<RunningCommand & { url: string }> {
  const running = runDragoman(['serve', module, '--port', '0', ...flags], environment);
  const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
  return Object.assign(running, { url });
}
