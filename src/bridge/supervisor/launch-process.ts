import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../client/abortable-sleep.ts';
import type { OutputLine } from './process-output.ts';

/** A program to run. */
export interface ProgramSpec {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** All of its environment. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** How a program ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** What happened instead, such as `could not be run: …`. */
  readonly error?: string;
}

/** What the guard tells. */
export type ReaperMessage = { readonly pid: number } | ProcessExit | { readonly error: string };

/** What a program does, as it happens. */
export interface ProcessHandlers {
  /** It runs, and leads the process group of this number. */
  started(pid: number): void;
  printed(stream: OutputLine['stream'], text: string): void;
}

/** A program that runs, with everything it started. */
export interface RunningProcess {
  /** Settles when the program and its whole process group are gone. Never rejects. */
  readonly ended: Promise<ProcessExit>;
  /** Asks the whole group to end, and kills what is left of it after so many milliseconds. */
  stop(grace: number): void;
}

/** Starts a program. Never throws. */
export type LaunchProcess = (program: ProgramSpec, heard: ProcessHandlers) => RunningProcess;

/** How long pipes may stay open after the end, in the hands of processes that left the group, in milliseconds. */
const drainTime = 500;

/**
 * Launches programs through a guard: a process of ours that stops the program and all it started when this process is
 * gone, even if it was killed.
 *
 * @param guard - the file of the guard.
 */
export function launchWithReaper(guard: string | URL, clock: Clock): LaunchProcess {
  const file = guard instanceof URL ? fileURLToPath(guard) : guard;
  return (program, heard) => {
    // Options of this process, such as a debugger's port, are not for the guard.
    const { NODE_OPTIONS: _options, ...env } = process.env;
    const child = spawn(process.execPath, [file], {
      detached: true,
      env,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [stdin, stdout, stderr, reports] = child.stdio;
    let pid: number | undefined;
    let ending: ProcessExit | undefined;
    const hear = (line: string): void => {
      const report = JSON.parse(line) as ReaperMessage;
      if ('pid' in report) {
        pid = report.pid;
        heard.started(pid);
      } else {
        ending = { code: null, signal: null, ...report };
      }
    };
    let half = '';
    (reports as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
      const lines = (half + text).split('\n');
      half = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    stdout.setEncoding('utf8').on('data', (text: string) => heard.printed('stdout', text));
    stderr.setEncoding('utf8').on('data', (text: string) => heard.printed('stderr', text));
    // Whoever is gone reads nothing; its end is told below.
    stdin.on('error', () => {});
    stdin.write(`${JSON.stringify(program)}\n`);
    const ended = new Promise<ProcessExit>((resolve) => {
      let stopWaiting: (() => void) | undefined;
      const over = (otherwise: ProcessExit) => {
        stopWaiting?.();
        for (const pipe of child.stdio) pipe?.destroy();
        resolve(ending ?? otherwise);
      };
      const lost: ProcessExit = { code: null, signal: null, error: 'was lost: its guard ended' };
      child.on('error', ({ message }) => over({ ...lost, error: `could not be run: ${message}` }));
      child.on('exit', (_code, signal) => {
        // A guard that was killed itself could not clear up.
        if (signal !== null && pid !== undefined) killGroup(pid);
        stopWaiting = clock.after(drainTime, () => over(lost));
      });
      child.on('close', () => over(lost));
    });
    return {
      ended,
      stop: (grace) => {
        if (stdin.writable) stdin.write(`${grace}\n`);
      },
    };
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
