import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The built command. */
export const cliEntry = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** How a program ended. */
export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A program that runs. */
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

  /** Waits until what was printed matches, and fails if the program ends before. */
  async prints(pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this[where]);
      if (match) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`It ended before it printed ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** Sends a signal and waits for the end. */
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

/** Where and with what a program runs. */
export interface CommandEnvironment {
  cwd?: string;
  env?: Record<string, string>;
}

/** Runs Node. */
export function runNode(
  args: readonly string[],
  { cwd = repositoryRoot, env = {} }: CommandEnvironment = {},
): RunningCommand {
  return new RunningCommand(spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } }));
}

/** Runs the built command. */
export function runDragoman(args: readonly string[], place: CommandEnvironment = {}): RunningCommand {
  return runNode([cliEntry, ...args], place);
}

/** Serves a module with the built command and gives its address. */
export async function serveModule(
  module: string,
  flags: readonly string[] = [],
  place: CommandEnvironment = {},
): Promise<RunningCommand & { url: string }> {
  const running = runDragoman(['serve', module, '--port', '0', ...flags], place);
  const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
  return Object.assign(running, { url });
}
