/** A log entry. */
export interface LogEntry {
  level: 'info' | 'warn' | 'error';
  message: string;
  taskId?: string;
  error?: unknown;
  /** Structured data. Never contains credentials. */
  fields?: { readonly [name: string]: string | number | boolean | undefined };
}

/** Function that receives log entries. */
export type LogSink = (entry: LogEntry) => void;

/**
 * The log of programs that set none: writes errors with their stacks to standard error, so that an exception of the author
 * of an agent is never lost. All other entries are dropped.
 */
export const writeErrors: LogSink = ({ level, message, taskId, error }) => {
  if (level !== 'error') return;
  const task = taskId === undefined ? '' : ` (task ${taskId})`;
  // oxlint-disable-next-line no-console -- the only log that the package writes itself
  console.error(maskControls(`error: ${message}${task}\n${stackOf(error)}`.trimEnd()));
};

/** Returns the stacks of an error and of its causes. Of an `A2AError`, which is thrown on purpose, only the message. */
export function stackOf(thrown: unknown): string {
  const stacks: string[] = [];
  let current = thrown;
  // The depth is limited because a chain of causes may be circular.
  for (let depth = 0; current !== undefined && depth < 5; depth++) {
    stacks.push(current instanceof Error ? describeError(current) : describe(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return stacks.join('\nCaused by: ');
}

function describeError(error: Error): string {
  if (error.name !== 'A2AError') return error.stack ?? String(error);
  const { hint } = error as { hint?: unknown };
  return typeof hint === 'string' ? `${String(error)}\nhint: ${hint}` : String(error);
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** Replaces control characters other than line breaks: peers choose parts of messages, which must not control a terminal. */
export function maskControls(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '?');
}

/** Returns a log sink that never throws: an error in it must not affect the caller, and is written instead. */
export function quietLogSink(sink: LogSink = writeErrors): LogSink {
  return (entry) => {
    try {
      sink(entry);
    } catch (error) {
      writeErrors({ level: 'error', message: 'The log failed', error });
    }
  };
}
