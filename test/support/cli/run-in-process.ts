import { vi } from 'vitest';
import { runProgram } from '../../../src/cli/run-program.ts';
import {
  type CommandEnvironment,
  type CommandResult,
  cliEntry,
  repositoryRoot,
  userEnvironment,
} from './run-command.ts';

/** Thrown by `process.exit` during a command. */
class Exit extends Error {
  override name = 'Exit';
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the sources in this process, which takes a small part of the time of a process of its own. For commands that
 * end by themselves: what they print and their exit code. Signals, standard input, the built files, and whether a process ends, are
 * the subject of tests with `runDragoman`. Commands run one after the other.
 */
export function runInProcess(
  args: readonly string[],
  { cwd = repositoryRoot, env = {} }: CommandEnvironment = {},
): Promise<CommandResult> {
  const run = last.then(() => runAlone(args, cwd, { ...userEnvironment(), ...env }));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const before = { argv: process.argv, cwd: process.cwd(), exitCode: process.exitCode };
  const printed = { stdout: '', stderr: '' };
  const undo = [
    replaceWrite('stdout', (text) => (printed.stdout += text)),
    replaceWrite('stderr', (text) => (printed.stderr += text)),
    removeNewListeners(process, ['SIGINT', 'SIGTERM', 'SIGHUP']),
    removeNewListeners(process.stdout, ['error']),
    replaceExit(),
    replaceEnvironment(env),
  ];
  process.argv = [process.execPath, cliEntry, ...args];
  process.exitCode = 0;
  process.chdir(cwd);
  try {
    await runProgram(args).catch((thrown: unknown) => {
      if (!(thrown instanceof Exit)) throw thrown;
    });
    return { code: readExitCode(), ...printed };
  } finally {
    for (const each of undo) each();
    process.chdir(before.cwd);
    process.argv = before.argv;
    process.exitCode = before.exitCode;
  }
}

/** Sets the environment variables until the returned function is called. They are assigned one by one, so that Node.js notices TZ. */
function replaceEnvironment(env: NodeJS.ProcessEnv): () => void {
  const before = { ...process.env };
  const assign = (to: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) if (to[name] === undefined) delete process.env[name];
    for (const [name, value] of Object.entries(to))
      if (value !== undefined && process.env[name] !== value) process.env[name] = value;
  };
  assign(env);
  return () => assign(before);
}

const readExitCode = (): number => Number(process.exitCode);

/** Passes output to a function until the returned function is called. */
function replaceWrite(name: 'stdout' | 'stderr', onText: (text: string) => void): () => void {
  const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    onText(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
  const spy = vi.spyOn(process[name], 'write').mockImplementation(write);
  return () => spy.mockRestore();
}

/** Makes `process.exit` throw until the returned function is called. */
function replaceExit(): () => void {
  const spy = vi.spyOn(process, 'exit').mockImplementation((code) => {
    process.exitCode = code ?? process.exitCode;
    throw new Exit('The command ended');
  });
  return () => spy.mockRestore();
}

/** Returns a function that removes the listeners that were added since. */
function removeNewListeners(emitter: NodeJS.EventEmitter, names: readonly string[]): () => void {
  const old = new Map(names.map((name) => [name, emitter.listeners(name)]));
  return () => {
    for (const [name, listeners] of old)
      for (const each of emitter.listeners(name))
        if (!listeners.includes(each)) emitter.off(name, each as () => void);
  };
}
