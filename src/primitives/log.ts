/** Something worth writing down. */
export interface LogEntry {
  level: 'info' | 'warn' | 'error';
  message: string;
  taskId?: string;
  error?: unknown;
  /** Facts for programs that read logs. Never credentials. */
  fields?: { readonly [name: string]: string | number | boolean | undefined };
}

/** Takes what is worth writing down. */
export type LogSink = (entry: LogEntry) => void;
