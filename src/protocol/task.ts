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

/** True when nothing can happen to the task any more. */
export function isTerminal(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected';
}

/** True when the task waits for its caller. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'input-required' || state === 'auth-required';
}

/** Tells the two answers to a send apart. */
export function isTask(answer: Task | Message): answer is Task {
  return 'status' in answer;
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
