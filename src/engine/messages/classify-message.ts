import { mapResolved, type MaybePromise } from '../../primitives/maybe-promise.ts';
import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import { A2AError, invalidField, taskNotFound } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';
import { whenSettled } from '../runs/persisted-task.ts';

/** Class of an incoming message: it starts a task, continues one, or is a duplicate (idempotent resend). */
export type MessageClass =
  | { kind: 'new'; taskId: string | undefined }
  /** The sequence number detects changes of the task after the classification. */
  | { kind: 'continuation'; log: TaskLog; sequence: number }
  | { kind: 'duplicate'; log: TaskLog };

/** A new task without a client-defined id. */
const newTask: MessageClass = { kind: 'new', taskId: undefined };

/**
 * Classifies a message and deduplicates by message id and content.
 *
 * @param isLookedUp - false if the task store rejects the task of a known message; see {@link classifyRejected}.
 * @throws {@link A2AError} if the task does not exist, has ended, is still working or has another context.
 */
export function classifyMessage(
  taskStore: TaskStore,
  owner: string,
  request: SendRequest,
  isLookedUp = true,
): MaybePromise<MessageClass> {
  const { message, clientTaskId } = request;
  const taskId = message.taskId ?? clientTaskId;
  if (taskId !== undefined) {
    return mapResolved(taskStore.open(owner, taskId), (log) => classifyPersisted(log, request));
  }
  if (!isLookedUp) return newTask;
  const knownTaskId = taskStore.findByMessageId(owner, message.messageId);
  if (knownTaskId === undefined) return newTask;
  return mapResolved(knownTaskId, (id) =>
    id === undefined ? newTask : findDuplicate(taskStore, owner, id, message),
  );
}

/** Waits until all events are visible: a duplicate of this message may not be persisted yet. */
function classifyPersisted(
  log: TaskLog | undefined,
  request: SendRequest,
): MessageClass | Promise<MessageClass> {
  return mapResolved(log && whenSettled(log), () => classifyForTask(log, request));
}

function classifyForTask(log: TaskLog | undefined, { message, clientTaskId }: SendRequest): MessageClass {
  if (!log) {
    if (message.taskId !== undefined) throw taskNotFound(message.taskId);
    return { kind: 'new', taskId: clientTaskId };
  }
  if (message.contextId !== undefined && message.contextId !== log.contextId) {
    throw invalidField('message.contextId', 'must match the context of the task');
  }
  if (isDuplicate(log.task(), message)) return { kind: 'duplicate', log };
  if (isTerminal(log.state)) {
    throw new A2AError('UNSUPPORTED_OPERATION', `The task is ${log.state} and accepts no more messages`, {
      details: { taskId: log.id },
    });
  }
  if (log.state === 'submitted' || log.state === 'working') {
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'The task is still working; send messages only when its state is input-required',
      { details: { taskId: log.id } },
    );
  }
  return { kind: 'continuation', log, sequence: log.sequence };
}

/**
 * Classifies a message whose task could not be created because of another task: of the same message, or with the same id.
 *
 * @throws the error, if it is another one.
 */
export async function classifyRejected(
  error: unknown,
  taskStore: TaskStore,
  owner: string,
  request: SendRequest,
): Promise<MessageClass> {
  const { reason, details } = A2AError.from(error);
  if (reason !== 'CONFLICT' || !taskStore.rejectsKnownMessages || details['taskId'] === undefined)
    throw error;
  if (request.clientTaskId !== undefined) return classifyMessage(taskStore, owner, request);
  return findDuplicate(taskStore, owner, details['taskId'], request.message);
}

function findDuplicate(
  taskStore: TaskStore,
  owner: string,
  knownTaskId: string,
  message: Message,
): MessageClass | Promise<MessageClass> {
  return mapResolved(taskStore.open(owner, knownTaskId), (log) => compareWithTask(log, message));
}

function compareWithTask(log: TaskLog | undefined, message: Message): MessageClass | Promise<MessageClass> {
  const settling = log && whenSettled(log);
  if (settling) return settling.then(() => compareWithTask(log, message));
  // A reused message id with different content is a new message, not a resend.
  if (log && isDuplicate(log.task(), message)) return { kind: 'duplicate', log };
  return newTask;
}

/** Returns true if the history of a task contains the message. */
export function isDuplicate({ history }: Task, message: Message): boolean {
  const earlier = history?.find(
    ({ messageId, role }) => messageId === message.messageId && role === message.role,
  );
  return earlier !== undefined && hasSameParts(earlier.parts, message.parts);
}

function hasSameParts(parts: readonly Part[], otherParts: readonly Part[]): boolean {
  if (parts.length !== otherParts.length) return false;
  return parts.every((part, i) => JSON.stringify(part) === JSON.stringify(otherParts[i]));
}
