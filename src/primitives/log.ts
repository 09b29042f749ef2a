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

/** Returns a log sink that never throws: an error in it must not affect the caller. Without a sink, entries are dropped. */
export function quietLogSink(sink: LogSink | undefined): LogSink {
  if (!sink) return () => {};
  return (entry) => {
    try {
      sink(entry);
    } catch {
      // There is no other place to report it.
    }
  };
}
