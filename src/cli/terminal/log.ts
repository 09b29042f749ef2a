import type { A2AError } from '../../protocol/errors.ts';
import type { LogSink, LogEntry } from '../../primitives/log.ts';
import type { HttpServerRequest } from '../../server/http/http-message.ts';
import { createColors } from './colors.ts';
import { errorSummary } from './usage-error.ts';

/** How logs are written: for people, or one JSON object for each line. */
export type LogFormat = 'text' | 'json';

/** Where everything worth writing down goes. */
export interface CliLogs {
  /** Takes what agents report. */
  agent: LogSink;
  /** Takes requests; undefined when they are not written down. */
  requests: LogSink | undefined;
  /** Takes faults that no task tells of. */
  fault: (error: A2AError, exchange: HttpServerRequest) => void;
}

/**
 * Opens the logs on standard error.
 *
 * @param form - undefined writes for people, and requests only where a person is likely to look.
 */
export async function openLogs(form: LogFormat | undefined): Promise<CliLogs> {
  const write = form === 'json' ? await jsonLog() : textLog;
  const hasRequests = form !== undefined || process.stderr.isTTY;
  return {
    agent: write,
    requests: hasRequests ? write : undefined,
    fault: (error, { method, path }) => write({ level: 'error', message: `${method} ${path}`, error }),
  };
}

/** One JSON object for each entry. The library is loaded when somebody wants that. */
async function jsonLog(): Promise<LogSink> {
  const { pino } = await import('pino');
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
  return ({ level, message, taskId, error, fields }) => {
    const reason = error === undefined ? undefined : errorSummary(error);
    logger[level]({ ...fields, taskId, error: reason }, message);
  };
}

function textLog(entry: LogEntry): void {
  process.stderr.write(`${entry.message === 'request' ? requestLine(entry) : line(entry)}\n`);
}

function line({ level, message, taskId, error }: LogEntry): string {
  const about = taskId === undefined ? '' : ` (task ${taskId})`;
  const cause = error === undefined ? '' : `: ${errorSummary(error)}`;
  return `${level}: ${shown(message)}${about}${cause}`;
}

/** A request in one line, such as `200 send 1.0 JSONRPC 3 ms 127.0.0.1 task 17`. */
function requestLine({ fields = {}, taskId }: LogEntry): string {
  const { isColorSupported, green, red, dim } = createColors(process.stderr);
  const { status, method, path, operation, version, binding, outcome, duration, caller } = fields;
  const mark = Number(status) < 400 && outcome === 'OK' ? green : red;
  const what =
    operation === 'none' ? `${method} ${path}` : [operation, version, binding].filter(Boolean).join(' ');
  const end = [`${Math.round(Number(duration))} ms`, caller, taskId && `task ${taskId}`]
    .filter(Boolean)
    .join(' ');
  const failed = outcome === 'OK' ? '' : ` ${outcome}`;
  const text = `${status}${failed} ${shown(what)}`;
  return isColorSupported ? `${mark(text)} ${dim(shown(end))}` : `${text} ${shown(end)}`;
}

/** What callers made up must not move the cursor of whoever reads it. */
function shown(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
