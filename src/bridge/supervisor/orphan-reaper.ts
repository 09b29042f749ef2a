/**
 * A process of its own that starts a program in a process group and outlives nobody: when whoever started it is gone,
 * however that came about, the pipe on standard input ends, and the whole group is stopped. What the program prints
 * goes past this process, straight into the pipes it was given.
 *
 * Standard input: the program as one line of JSON (it may hold secrets, which have no place among arguments); then, to
 * stop it, how many milliseconds it has to end by itself; the end of the input stops it in any case.
 * Descriptor 3: reports, one line of JSON each.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { ProgramSpec, ReaperMessage } from './launch-process.ts';

/** How long a program may take to end by itself when nobody is left to say so, in milliseconds. */
const orphanGrace = 2000;
/** How long the group is waited for after it was killed. */
const afterKill = 1000;
const interval = 25;

let child: ChildProcess | undefined;
let isEnding = false;
let input = '';

function report(said: ReaperMessage): void {
  try {
    writeSync(3, `${JSON.stringify(said)}\n`);
  } catch {
    // Nobody is left to hear it.
  }
}

/** Signals the group. False when nobody is in it any more. */
function signal(name: NodeJS.Signals | 0): boolean {
  if (child?.pid === undefined) return false;
  try {
    return process.kill(-child.pid, name);
  } catch {
    return false;
  }
}

/** Ends this process once the group is gone, or after a while. */
function leaveAfter(milliseconds: number, otherwise: () => void): void {
  const until = Date.now() + milliseconds;
  const timer = setInterval(() => {
    if (signal(0) && Date.now() < until) return;
    clearInterval(timer);
    if (signal(0)) otherwise();
    else process.exit(0);
  }, interval);
}

function kill(): void {
  signal('SIGKILL');
  leaveAfter(afterKill, () => process.exit(0));
}

function stop(grace: number): void {
  if (isEnding) return;
  isEnding = true;
  signal('SIGTERM');
  leaveAfter(grace, kill);
}

function start({ argv: [command, ...args], cwd, env }: ProgramSpec): void {
  child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
  child.on('error', ({ message }) => {
    // Only what never began has no number.
    if (child?.pid !== undefined) return;
    report({ error: `could not be run: ${message}` });
    process.exit(0);
  });
  child.on('exit', (code, name) => {
    report({ code, signal: name });
    if (isEnding) return;
    // What it leaves behind would be in the way of the next one.
    isEnding = true;
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
process.stdin.on('close', () => stop(orphanGrace));
process.stdin.on('error', () => stop(orphanGrace));
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => stop(orphanGrace));
