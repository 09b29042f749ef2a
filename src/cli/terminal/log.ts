import type { A2AError } from '../../protocol/errors.ts';
import { type LogSink, type LogEntry, maskControls, stackOf } from '../../primitives/log.ts';
import type { HttpServerRequest } from '../../server/http/http-message.ts';
import { createColors } from './colors.ts';
import { errorSummary } from './usage-error.ts';

/** Log format: text, or one JSON object per line. */
export type LogFormat = 'text' | 'json';

/** Log sinks of a command. */
export interface CliLogs {
  /** Receives log entries of agents. */
  agent: LogSink;
  /** Receives requests; undefined if requests are not logged. */
  requests: LogSink | undefined;
  /** Receives internal errors that are not part of a task. */
  fault: (error: A2AError, request: HttpServerRequest) => void;
}

/**
 * Opens the logs on standard error.
 *
 * @param format - undefined writes text, and logs requests only if standard error is a terminal.
 */
export async function openLogs(format: LogFormat | undefined): Promise<CliLogs> {
  const write = format === 'json' ? await jsonLog() : textLog;
  const hasRequests = format !== undefined || process.stderr.isTTY;
  return {
    agent: write,
    requests: hasRequests ? write : undefined,
    fault: (error, { method, path }) => write({ level: 'error', message: `${method} ${path}`, error }),
  };
}

/** Writes one JSON object per entry. Loads pino on demand. */
async function jsonLog(): Promise<LogSink> {
  const { pino } = await import('pino');
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
  return ({ level, message, taskId, error, fields }) => {
    const reason = error === undefined ? undefined : errorSummary(error);
    const stack = level === 'error' ? stackOf(error) : '';
    logger[level]({ ...fields, taskId, error: reason, ...(stack.includes('\n') && { stack }) }, message);
  };
}

function textLog(entry: LogEntry): void {
  process.stderr.write(`${entry.message === 'request' ? formatRequest(entry) : formatEntry(entry)}\n`);
}

function formatEntry({ level, message, taskId, error }: LogEntry): string {
  const label = level === 'warn' ? 'warning' : level;
  const task = taskId === undefined ? '' : ` (task ${taskId})`;
  const cause = error === undefined ? '' : `: ${errorSummary(error)}`;
  const summary = `${label}: ${maskLine(message)}${task}${cause}`;
  const stack = level === 'error' ? stackOf(error) : '';
  return stack.includes('\n') ? `${summary}\n${maskControls(stack)}` : summary;
}

/** Formats a request, such as `200 send 1.0 JSONRPC 3 ms 127.0.0.1 task 17`. */
function formatRequest({ fields = {}, taskId }: LogEntry): string {
  const { isColorSupported, green, red, dim } = createColors(process.stderr);
  const { status, method, path, operation, version, outcome, duration } = fields;
  const transport = fields.transport ?? fields.binding;
  const client = fields.client ?? fields.caller;
  const paint = Number(status) < 400 && outcome === 'OK' ? green : red;
  const what =
    operation === 'none' ? `${method} ${path}` : [operation, version, transport].filter(Boolean).join(' ');
  const rest = [`${Math.round(Number(duration))} ms`, client, taskId && `task ${taskId}`]
    .filter(Boolean)
    .join(' ');
  const error = outcome === 'OK' ? '' : ` ${outcome}`;
  const text = `${status}${error} ${maskLine(what)}`;
  return isColorSupported ? `${paint(text)} ${dim(maskLine(rest))}` : `${text} ${maskLine(rest)}`;
}

function maskLine(text: string): string {
  return maskControls(text).replaceAll('\n', '?');
}
