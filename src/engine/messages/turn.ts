import type { TaskLog } from '../../store/task-store.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import {
  isInterrupted,
  isTerminal,
  isTerminalOrInterrupted,
  limitHistory,
  type Task,
} from '../../protocol/task.ts';
import { failingStream } from '../../protocol/composition/failing-stream.ts';
import { singleEventStream } from '../streams/iterables.ts';
import { isConflict, persistedTask } from '../runs/persisted-task.ts';
import type { TaskRun } from '../runs/task-run.ts';

/** A message that is being processed: its task and, if it runs in this process, its run. */
export interface ActiveTurn {
  log: TaskLog;
  run: TaskRun | undefined;
  events?: AsyncIterable<StreamEvent>;
}

/** Returns the message with the ids of its task. */
export function withTaskIds(message: Message, contextId: string, taskId: string): Message {
  const { messageId, role, parts, extensions, referenceTaskIds, metadata } = message;
  return { messageId, role, parts, contextId, taskId, extensions, referenceTaskIds, metadata };
}

/** Creates the task that a message starts. The message has the ids of the task. */
export function submittedTask(message: Message, timestamp: string): Task {
  const { taskId = '', contextId = '' } = message;
  return { id: taskId, contextId, status: { state: 'submitted', timestamp }, history: [message] };
}

/** Returns true if the event ends a stream before the task ends: the task needs input. */
export function endsStream(event: StreamEvent): boolean {
  return event.kind === 'status' && event.status.state === 'input-required';
}

/** Returns true if the event ends a turn: the task has ended or needs input. */
export function isTurnEnd(event: StreamEvent): boolean {
  return event.kind === 'status' && isTerminalOrInterrupted(event.status.state);
}

/** Returns the stream of a duplicate message: all events of the first turn, or a snapshot for a later turn. */
export function replayTurn(log: TaskLog, { messageId }: Message): AsyncIterable<StreamEvent> {
  const task = log.task();
  if (task.history?.[0]?.messageId === messageId) return log.subscribe(0, endsStream);
  if (!isInterrupted(task.status.state)) return log.subscribe('now', endsStream);
  return singleEventStream({ kind: 'task', task, sequence: log.sequence });
}

/** Returns the events of a task after a sequence number, or its current state and all later events. */
export function subscribeToTask(
  log: TaskLog | undefined,
  id: string,
  after: number | undefined,
): AsyncIterable<StreamEvent> {
  if (!log) return failingStream(taskNotFound(id));
  if (after !== undefined && after <= log.sequence) return log.subscribe(after, endsStream);
  if (!isTerminal(log.state)) return log.subscribe('now', endsStream);
  const text = `The task is ${log.state} and has no further events`;
  return failingStream(new A2AError('UNSUPPORTED_OPERATION', text, { details: { taskId: id } }));
}

/** Returns the task when it is terminal or interrupted, or at once if the client wants that. */
export function waitForResult(
  run: TaskRun | undefined,
  log: TaskLog,
  { configuration }: SendRequest,
): Promise<Task> {
  const result = waitForTurnEnd(run, log, configuration?.returnImmediately);
  const length = configuration?.historyLength;
  return length === undefined ? result : result.then((task) => limitHistory(task, length));
}

function waitForTurnEnd(
  run: TaskRun | undefined,
  log: TaskLog,
  immediately: boolean | undefined,
): Promise<Task> {
  if (immediately) return Promise.resolve(persistedTask(log));
  if (run) return run.whenIdle();
  if (isTerminalOrInterrupted(log.state)) return Promise.resolve(persistedTask(log));
  return waitForEvents(log);
}

/** Returns the result of a run that has ended. @param failure - the error of a run that could not store its events */
export function turnResult(log: TaskLog, failure?: A2AError): Task | Promise<Task> {
  const persisting = failure ? Promise.reject<void>(failure) : log.whenPersisted();
  if (!persisting) return log.task();
  return Promise.resolve(persisting).then(
    () => log.task(),
    async (error: unknown) => {
      // Another process has become the writer of the task, so requests wait for its result.
      if (!isConflict(error)) throw error;
      await log.refresh?.();
      return isTerminalOrInterrupted(log.state) ? log.task() : waitForEvents(log);
    },
  );
}

/** Waits for a task that runs in another process. */
async function waitForEvents(log: TaskLog): Promise<Task> {
  for await (const event of log.subscribe(log.sequence, isTurnEnd)) if (isTurnEnd(event)) break;
  return log.task();
}
