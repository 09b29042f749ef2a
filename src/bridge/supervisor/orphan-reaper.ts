/**
 * Orphan reaper: a separate process that starts a program in a process group and stops the group when its parent ends
 * for any reason, which closes the pipe on standard input. The program inherits the output pipes directly.
 *
 * Standard input: the program as one line of JSON (not as arguments, because it may contain secrets); then, to stop it,
 * a line with the milliseconds between SIGTERM and SIGKILL. The end of the input also stops it.
 * Descriptor 3: messages to the parent, one line of JSON each.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { ProgramSpec, ReaperMessage } from './launch-process.ts';

/** Milliseconds between SIGTERM and SIGKILL if the parent has ended. */
const orphanStopTimeout = 2000;
/** Milliseconds to wait for the group after SIGKILL. */
const killTimeout = 1000;
const pollInterval = 25;

let child: ChildProcess | undefined;
let isStopping = false;
let input = '';

function report(message: ReaperMessage): void {
  try {
    writeSync(3, `${JSON.stringify(message)}\n`);
  } catch {
    // The parent has ended.
  }
}

/** Sends a signal to the process group. Returns false if the group has ended. */
function signal(name: NodeJS.Signals | 0): boolean {
  if (child?.pid === undefined) return false;
  try {
    return process.kill(-child.pid, name);
  } catch {
    return false;
  }
}

/** Exits when the group has ended; calls `onTimeout` if it has not after `milliseconds`. */
function exitAfterGroup(milliseconds: number, onTimeout: () => void): void {
  const deadline = performance.now() + milliseconds;
  const timer = setInterval(() => {
    if (signal(0) && performance.now() < deadline) return;
    clearInterval(timer);
    if (signal(0)) onTimeout();
    else process.exit(0);
  }, pollInterval);
}

function kill(): void {
  signal('SIGKILL');
  exitAfterGroup(killTimeout, () => process.exit(0));
}

function stop(stopTimeout: number): void {
  if (isStopping) return;
  isStopping = true;
  signal('SIGTERM');
  exitAfterGroup(stopTimeout, kill);
}

function start({ argv: [command, ...args], cwd, env }: ProgramSpec): void {
  child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
  child.on('error', ({ message }) => {
    // Without a pid the program never started.
    if (child?.pid !== undefined) return;
    report({ error: `failed to start: ${message}` });
    process.exit(0);
  });
  child.on('exit', (code, name) => {
    report({ code, signal: name });
    if (isStopping) return;
    // Remaining child processes could block the restart, for example by holding the port.
    isStopping = true;
    kill();
  });
  if (child.pid !== undefined) report({ pid: child.pid });
}

process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  input += text;
  for (let end = input.indexOf('\n'); end >= 0; end = input.indexOf('\n')) {
    const line = input.slice(0, end);
    input = input.slice(end + 1);
    if (child) stop(Number(line));
    else start(JSON.parse(line) as ProgramSpec);
  }
});
process.stdin.on('close', () => stop(orphanStopTimeout));
process.stdin.on('error', () => stop(orphanStopTimeout));
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => stop(orphanStopTimeout));
