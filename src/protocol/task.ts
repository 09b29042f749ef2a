import type { Message } from './message.ts';
import type { Metadata, Part } from './part.ts';

/** Every state of a task. `unknown` stands for a peer's word that nobody else knows. */
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

/** The state of a task; its place in {@link taskStates} is its number in the protocol buffers of 1.0. */
export type TaskState = (typeof taskStates)[number];

/** A state, what the agent said with it, and when. */
export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** RFC 3339 in UTC with milliseconds. */
  timestamp?: string;
}

/** Something a task made. */
export interface Artifact {
  /** Unique within its task. */
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  extensions?: string[];
  metadata?: Metadata;
}

/** A unit of work, as it stands. */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Metadata;
  /**
   * The protocol version whose caller made the task, kept only where it matters: 0.1 and 0.3 share method
   * names but not shapes, so a later `tasks/get` is answered in the words of the version that began.
   * Never on the wire.
   */
  originVersion?: '0.1';
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
 * Gives the task with at most the newest `length` messages of its history: all of them when `length` is
 * undefined, and no `history` at all when it is 0.
 */
export function limitHistory(task: Task, length: number | undefined): Task {
  if (length === undefined || task.history === undefined || task.history.length === 0) return task;
  if (length > 0 && length >= task.history.length) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
