import type { TaskLog } from '../../store/task-store.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isInterrupted, isTerminal, type Task } from '../../protocol/task.ts';
import { singleEventStream } from '../streams/iterables.ts';
import { type TaskRun, persistedTask } from '../runs/task-run.ts';

/** A message on its way: the task it belongs to and, if it runs here, its run. */
export interface ActiveTurn {
  log: TaskLog;
  run: TaskRun | undefined;
  follower?: AsyncIterable<StreamEvent>;
}

/** A message with the ids of the task it belongs to. */
export function withTaskIds(message: Message, contextId: string, taskId: string): Message {
  const { messageId, role, parts, extensions, referenceTaskIds, metadata } = message;
  return { messageId, role, parts, contextId, taskId, extensions, referenceTaskIds, metadata };
}

/** A stream ends when the task does, and when the task waits for the caller's words. */
export function endsStream(event: StreamEvent): boolean {
  return event.kind === 'status' && event.status.state === 'input-required';
}

/** True when the task ends or needs its caller, and a send is answered. */
function isResting(event: StreamEvent): boolean {
  if (event.kind !== 'status') return false;
  return isTerminal(event.status.state) || isInterrupted(event.status.state);
}

/** Tells the turn of a message that came before: the first one as it happened, a later one as the task stands. */
export function replayTurn(log: TaskLog, { messageId }: Message): AsyncIterable<StreamEvent> {
  const task = log.task();
  if (task.history?.[0]?.messageId === messageId) return log.subscribe(0, endsStream);
  if (!isInterrupted(task.status.state)) return log.subscribe('now', endsStream);
  return singleEventStream({ kind: 'task', task, sequence: log.sequence });
}

/** Waits until a task ends or needs its caller, unless that is too long for the caller. */
export function waitForTurnEnd(
  run: TaskRun | undefined,
  log: TaskLog,
  immediately: boolean | undefined,
): Promise<Task> {
  if (immediately) return Promise.resolve(persistedTask(log));
  if (run) return run.whenIdle();
  if (isTerminal(log.state) || isInterrupted(log.state)) return Promise.resolve(persistedTask(log));
  return followed(log);
}

/** Follows a task that runs elsewhere until it rests. */
async function followed(log: TaskLog): Promise<Task> {
  for await (const event of log.subscribe(log.sequence, isResting)) if (isResting(event)) break;
  return log.task();
}
