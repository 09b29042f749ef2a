import type { LogEntry } from '../engine/definition.ts';
import type { Exchange } from '../server/exchange.ts';
import { reasonOf } from './mistake.ts';

/** Writes what an agent reports to standard error, one line each. */
export function logEntry({ level, message, taskId, error }: LogEntry): void {
  const about = taskId === undefined ? '' : ` (task ${taskId})`;
  const cause = error === undefined ? '' : `: ${reasonOf(error)}`;
  process.stderr.write(`${level}: ${message}${about}${cause}\n`);
}

/** Writes a fault that no task tells of to standard error, in one line. */
export function logFault(error: unknown, { method, path }: Exchange): void {
  process.stderr.write(`error: ${method} ${path}: ${reasonOf(error)}\n`);
}
