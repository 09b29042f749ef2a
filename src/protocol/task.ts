import type { Message } from './message.ts';
import type { Metadata, Part } from './part.ts';

/** All task states. `unknown` replaces a state that the protocol version does not define. */
export const taskStates = [
  'unknown',
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
] as const;

/** Task state. Its index in {@link taskStates} is its number in the protocol buffers of 1.0. */
export type TaskState = (typeof taskStates)[number];

/** State of a task with the message and time of its last change. */
export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** RFC 3339 in UTC, with milliseconds. */
  timestamp?: string;
}

/** Output of a task. */
export interface Artifact {
  /** Unique within its task. */
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  extensions?: string[];
  metadata?: Metadata;
}

/** A stateful unit of work. */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Metadata;
  /**
   * Number of state transitions and artifact updates, plus 1. Set only if the server previews 1.1, which adds it to the
   * protocol.
   */
  generation?: number;
  /**
   * Protocol version of the client that created the task, set only for 0.1. Versions 0.1 and 0.3 share method names but
   * not formats, so later requests such as `tasks/get` are answered in this version. Never on the wire.
   */
  originVersion?: '0.1';
  /** Trace in which the task was created, if tracing is enabled. Never on the wire. */
  trace?: TraceContext;
}

/** W3C trace context of a span. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** Returns true if the task has ended and cannot change any more. */
export function isTerminal(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected';
}

/** Returns true if the task waits for its client: `input-required` or `auth-required`. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'input-required' || state === 'auth-required';
}

/** Returns true for states in which a blocking send returns and a stream ends. */
export function isTerminalOrInterrupted(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Returns true if the result of a send is a task, not a direct message. */
export function isTask(result: Task | Message): result is Task {
  return 'status' in result;
}

/**
 * Returns the task with at most the newest `length` messages of its history: all of them if `length` is undefined, no
 * `history` member if it is 0.
 */
export function limitHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history === undefined || task.history.length === 0) return task;
  if (length > 0 && length >= task.history.length) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
