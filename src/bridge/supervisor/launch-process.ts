import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../primitives/clock.ts';
import type { OutputLine } from './process-output.ts';

/** Program, working directory and environment. */
export interface ProgramSpec {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** Exit of a process. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Reason if there is no exit code, such as `failed to start: …`. */
  readonly error?: string;
}

/** Message of the orphan reaper. */
export type ReaperMessage = { readonly pid: number } | ProcessExit | { readonly error: string };

/** Callbacks of a process. */
export interface ProcessHandlers {
  /** Called with the pid, which is also the id of the process group. */
  onStart(pid: number): void;
  onOutput(stream: OutputLine['stream'], text: string): void;
}

/** A running program with its process group. */
export interface RunningProcess {
  /** Resolves when the program and its process group have ended. Never rejects. */
  readonly ended: Promise<ProcessExit>;
  /** Sends SIGTERM to the process group, and SIGKILL after `stopTimeout` milliseconds. */
  stop(stopTimeout: number): void;
}

/** Starts a program. Never throws. */
export type LaunchProcess = (program: ProgramSpec, handlers: ProcessHandlers) => RunningProcess;

/** Milliseconds to wait for pipes that processes outside of the group keep open. */
const pipeCloseTimeout = 500;

/**
 * Launches programs through the orphan reaper: a child process that stops the program and its process group when this
 * process ends, even by SIGKILL.
 */
export function launchWithReaper(reaperPath: string | URL, clock: Clock): LaunchProcess {
  const file = reaperPath instanceof URL ? fileURLToPath(reaperPath) : reaperPath;
  return (program, handlers) => {
    // The reaper must not inherit options such as the debugger port.
    const { NODE_OPTIONS: _options, ...env } = process.env;
    const child = spawn(process.execPath, [file], {
      detached: true,
      env,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [stdin, stdout, stderr, messages] = child.stdio;
    let pid: number | undefined;
    let exit: ProcessExit | undefined;
    const handleMessage = (line: string): void => {
      const message = JSON.parse(line) as ReaperMessage;
      if ('pid' in message) {
        pid = message.pid;
        handlers.onStart(pid);
      } else {
        exit = { code: null, signal: null, ...message };
      }
    };
    let partialLine = '';
    (messages as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
      const lines = (partialLine + text).split('\n');
      partialLine = lines.pop() ?? '';
      for (const line of lines) handleMessage(line);
    });
    stdout.setEncoding('utf8').on('data', (text: string) => handlers.onOutput('stdout', text));
    stderr.setEncoding('utf8').on('data', (text: string) => handlers.onOutput('stderr', text));
    // The exit handler below reports a reaper that has ended.
    stdin.on('error', () => {});
    stdin.write(`${JSON.stringify(program)}\n`);
    const ended = new Promise<ProcessExit>((resolve) => {
      let stopWaiting: (() => void) | undefined;
      const finish = (fallback: ProcessExit) => {
        stopWaiting?.();
        for (const pipe of child.stdio) pipe?.destroy();
        resolve(exit ?? fallback);
      };
      const lost: ProcessExit = { code: null, signal: null, error: 'was lost: its reaper ended' };
      child.on('error', ({ message }) => finish({ ...lost, error: `failed to start: ${message}` }));
      child.on('exit', (_code, signal) => {
        // A reaper that was killed could not stop the group.
        if (signal !== null && pid !== undefined) killGroup(pid);
        stopWaiting = clock.after(pipeCloseTimeout, () => finish(lost));
      });
      child.on('close', () => finish(lost));
    });
    return {
      ended,
      stop: (stopTimeout) => {
        if (stdin.writable) stdin.write(`${stopTimeout}\n`);
      },
    };
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
