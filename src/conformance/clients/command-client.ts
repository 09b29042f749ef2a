import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import {
  type ClientExit,
  type ClientInstruction,
  type ClientOperation,
  clientOperations,
  type ClientUnderTest,
} from './client-under-test.ts';

/** Placeholders of a command, and the environment variables with the same values. */
const clientPlaceholders: {
  readonly [placeholder: string]: { readonly variable: string; readonly member: keyof ClientInstruction };
} = {
  '{url}': { variable: 'A2A_URL', member: 'url' },
  '{operation}': { variable: 'A2A_OPERATION', member: 'operation' },
  '{text}': { variable: 'A2A_TEXT', member: 'text' },
  '{reply}': { variable: 'A2A_REPLY', member: 'reply' },
  '{task}': { variable: 'A2A_TASK_ID', member: 'taskId' },
  '{token}': { variable: 'A2A_TOKEN', member: 'token' },
};

/** Options of {@link createCommandClient}. */
export interface CommandClientOptions {
  /** Program and arguments, with placeholders. No shell interprets them. */
  readonly command: readonly string[];
  /** Name for reports. @defaultValue the name of the program or script */
  readonly name?: string;
  /** Operations to try. @defaultValue all if the command contains `{operation}`, otherwise `send` */
  readonly operations?: readonly ClientOperation[];
}

/** Characters of each output that are kept. */
const maxOutput = 65_536;
/** Milliseconds until a process that ignores SIGTERM is killed. */
const killDelay = 1_000;
/** Milliseconds in which output is read after the end of a process; its children may hold the pipe open. */
const drainDelay = 500;

/** Creates a client that runs a command once for every instruction. */
export function createCommandClient({ command, name, operations }: CommandClientOptions): ClientUnderTest {
  const contains = (placeholder: string): boolean => command.some((word) => word.includes(placeholder));
  return {
    name: name ?? programName(command),
    command: command.join(' '),
    operations: operations ?? (contains('{operation}') ? clientOperations : ['send']),
    takesToken: contains('{token}'),
    run: (instruction, signal) =>
      new CommandRun(
        command.map((word) => fillPlaceholders(word, instruction)),
        { ...process.env, ...toVariables(instruction) },
      ).finish(signal),
  };
}

/** Programs that run the script which the next word names. */
const interpreters: ReadonlySet<string> = new Set([
  'node',
  'npx',
  'deno',
  'bun',
  'python',
  'python3',
  'sh',
  'bash',
  'java',
]);

function programName([program = '', ...words]: readonly string[]): string {
  const script = interpreters.has(basename(program))
    ? words.find((word) => !word.startsWith('-'))
    : undefined;
  return basename(script ?? program);
}

function fillPlaceholders(word: string, instruction: ClientInstruction): string {
  return word.replaceAll(/\{[a-z]+\}/g, (placeholder) => {
    const entry = clientPlaceholders[placeholder];
    return entry ? instruction[entry.member] : placeholder;
  });
}

function toVariables(instruction: ClientInstruction): Record<string, string> {
  return Object.fromEntries(
    Object.values(clientPlaceholders).map(({ variable, member }) => [variable, instruction[member]]),
  );
}

/** One execution of the command, in a process group of its own. */
class CommandRun {
  readonly #words: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #output = { stdout: '', stderr: '' };
  #isTimeout = false;

  constructor(words: readonly string[], environment: NodeJS.ProcessEnv) {
    this.#words = words;
    this.#environment = environment;
  }

  finish(signal: AbortSignal): Promise<ClientExit> {
    const [program = '', ...words] = this.#words;
    return new Promise((resolve) => {
      const child = spawn(program, words, {
        env: this.#environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        // The process group contains the children of the command, so that all of them can be ended.
        detached: process.platform !== 'win32',
      });
      let killTimer: NodeJS.Timeout | undefined;
      const stop = (): void => {
        this.#isTimeout = true;
        endGroup(child, 'SIGTERM');
        killTimer = setTimeout(() => endGroup(child, 'SIGKILL'), killDelay);
      };
      const finish = (code: number | undefined, name?: string): void => {
        clearTimeout(killTimer);
        signal.removeEventListener('abort', stop);
        // Children that outlive the command would keep their connections.
        endGroup(child, 'SIGKILL');
        resolve({
          code,
          ...(name === undefined ? {} : { signal: name }),
          isTimeout: this.#isTimeout,
          ...this.#output,
        });
      };
      this.#collect(child, 'stdout');
      this.#collect(child, 'stderr');
      child.on('error', (error) => {
        this.#output.stderr += `${error.message}\n`;
        if (child.pid === undefined) finish(127);
      });
      child.on('exit', (code, name) => {
        const end = (): void => {
          clearTimeout(drainTimer);
          child.off('close', end);
          finish(code ?? undefined, name ?? undefined);
        };
        const drainTimer = setTimeout(end, drainDelay);
        child.on('close', end);
      });
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  #collect(child: ChildProcess, name: 'stdout' | 'stderr'): void {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      this.#output[name] = (this.#output[name] + text).slice(0, maxOutput);
    });
  }
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // The process has ended.
  }
}
