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
