import type { TaskLog } from '../ledger/ledger.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import { isInterrupted, isTerminal } from '../protocol/task.ts';
import { single } from './iterables.ts';
import type { Run } from './run.ts';

/** A message on its way: the task it belongs to and, if it runs here, its run. */
export interface Proceeding {
  log: TaskLog;
  run: Run | undefined;
  follower?: AsyncIterable<StreamEvent>;
}

/** A message with the ids of the task it belongs to. */
export function placed(message: Message, contextId: string, taskId: string): Message {
  const { messageId, role, parts, extensions, referenceTaskIds, metadata } = message;
  return { messageId, role, parts, contextId, taskId, extensions, referenceTaskIds, metadata };
}

/** A stream ends when the task does, and when the task waits for the caller's words. */
export function isLast(event: StreamEvent): boolean {
  return event.kind === 'status' && event.status.state === 'input-required';
}

/** True when the task ends or needs its caller, and a send is answered. */
export function isResting(event: StreamEvent): boolean {
  if (event.kind !== 'status') return false;
  return isTerminal(event.status.state) || isInterrupted(event.status.state);
}

/** Tells the turn of a message that came before: the first one as it happened, a later one as the task stands. */
export function again(log: TaskLog, { messageId }: Message): AsyncIterable<StreamEvent> {
  const task = log.task();
  if (task.history?.[0]?.messageId === messageId) return log.follow(0, isLast);
  if (!isInterrupted(task.status.state)) return log.follow('now', isLast);
  return single({ kind: 'task', task, sequence: log.sequence });
}
