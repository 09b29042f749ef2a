import { mapResolved, type MaybePromise } from '../../primitives/maybe-promise.ts';
import type { TaskStore, TaskLog } from '../../store/task-store.ts';
import { A2AError, invalidField, taskNotFound } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';
import type { AgentDefinition } from '../agent-definition.ts';
import { whenSettled } from '../runs/persisted-task.ts';
import { checkGeneration } from './check-generation.ts';

/** Class of an incoming message: it starts a task, continues one, or is a duplicate (idempotent resend). */
export type MessageClass =
  | { kind: 'new'; taskId: string | undefined }
  /** The sequence number and the number of messages show what changed after the classification. */
  | { kind: 'continuation'; log: TaskLog; sequence: number; messages: number }
  | { kind: 'duplicate'; log: TaskLog };

/** What counts as a repeat of an earlier message. */
export interface RepeatRule {
  /** False if a message that equals an earlier one is a new message: neither the client nor the agent marks repeats. */
  readonly isMarked: boolean;
  /** False if the task store rejects the task of a known message; see {@link classifyRejected}. @defaultValue true */
  readonly isLookedUp?: boolean;
  /** Number of messages of the task that are older than this one. @defaultValue 0 */
  readonly after?: number;
}

/** Returns the key under which the task of a message is found when the request is repeated. */
export function repeatKey({ idempotencyKey, message }: SendRequest): string {
  return idempotencyKey ?? message.messageId;
}

/**
 * Returns the rule for a request. Its repetition is marked if the agent recognizes all messages by their ids, or if the client
 * sends a key, resumes a stream, or chose the id of the task: a 0.1 message with a known id is a repetition, because a new
 * one gets a new id.
 */
export function repeatRule(
  { idempotency, allowDirectReply = false }: AgentDefinition,
  { rejectsKnownMessages = false }: TaskStore,
  { idempotencyKey, afterSequence, clientTaskId }: SendRequest,
): RepeatRule {
  const isMarkedByClient =
    idempotencyKey !== undefined || afterSequence !== undefined || clientTaskId !== undefined;
  return {
    isMarked: idempotency === 'message-id' || isMarkedByClient,
    isLookedUp: allowDirectReply || !rejectsKnownMessages,
  };
}

/** A new task without a client-defined id. */
const newTask: MessageClass = { kind: 'new', taskId: undefined };

/**
 * Classifies a message.
 *
 * @throws {@link A2AError} if the task does not exist, has ended, is still working or has another context, or if the
 * idempotency key was used for another message.
 */
export function classifyMessage(
  taskStore: TaskStore,
  owner: string,
  request: SendRequest,
  rule: RepeatRule,
): MaybePromise<MessageClass> {
  const { message, clientTaskId } = request;
  const taskId = message.taskId ?? clientTaskId;
  if (taskId !== undefined) {
    return mapResolved(taskStore.open(owner, taskId), (log) => classifyPersisted(log, request, rule));
  }
  if (!rule.isMarked || rule.isLookedUp === false) return newTask;
  const knownTaskId = taskStore.findByKey(owner, repeatKey(request));
  if (knownTaskId === undefined) return newTask;
  return mapResolved(knownTaskId, (id) =>
    id === undefined ? newTask : findDuplicate(taskStore, owner, id, request),
  );
}

/** Waits until all events are visible: a duplicate of this message may not be persisted yet. */
function classifyPersisted(
  log: TaskLog | undefined,
  request: SendRequest,
  rule: RepeatRule,
): MessageClass | Promise<MessageClass> {
  return mapResolved(log && whenSettled(log), () => classifyForTask(log, request, rule));
}

function classifyForTask(
  log: TaskLog | undefined,
  { message, clientTaskId, configuration }: SendRequest,
  { isMarked, after }: RepeatRule,
): MessageClass {
  if (!log) {
    if (message.taskId !== undefined) throw taskNotFound(message.taskId);
    return { kind: 'new', taskId: clientTaskId };
  }
  if (message.contextId !== undefined && message.contextId !== log.contextId) {
    throw invalidField('message.contextId', 'must match the context of the task');
  }
  const task = log.task();
  if (isMarked && isDuplicate(task, message, after)) return { kind: 'duplicate', log };
  checkGeneration(task, configuration?.ifGenerationMatch);
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
  return { kind: 'continuation', log, sequence: log.sequence, messages: task.history?.length ?? 0 };
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
  rule: RepeatRule,
): Promise<MessageClass> {
  const knownTaskId = conflictingTask(error, taskStore);
  if (knownTaskId === undefined) throw error;
  if (request.clientTaskId !== undefined)
    return (
      (await findTwin(taskStore, owner, knownTaskId, request)) ??
      classifyMessage(taskStore, owner, request, rule)
    );
  return rule.isMarked ? findDuplicate(taskStore, owner, knownTaskId, request) : newTask;
}

/**
 * Returns the task of the same message without an id, which another process has received as well: the task did not exist when
 * this one was received, so that it cannot be an answer.
 */
async function findTwin(
  taskStore: TaskStore,
  owner: string,
  taskId: string,
  { message }: SendRequest,
): Promise<MessageClass | undefined> {
  const log = await taskStore.open(owner, taskId);
  if (log) await whenSettled(log);
  const [first] = log?.task().history ?? [];
  return log && first && isSameMessage(first, message, true) ? { kind: 'duplicate', log } : undefined;
}

/**
 * Creates the task of a new message. If the task store knows the id of the message already, the task has no key.
 *
 * @param create - creates the task with its key, or without one if it is null.
 * @throws the error of `create`, if the client or the agent marks repeats.
 */
export async function createTask(
  create: (key?: null) => MaybePromise<TaskLog>,
  taskStore: TaskStore,
  { isMarked }: RepeatRule,
): Promise<TaskLog> {
  try {
    return await create();
  } catch (error) {
    if (isMarked || conflictingTask(error, taskStore) === undefined) throw error;
    return create(null);
  }
}

/** Returns the id of the task because of which a task store that rejects known messages rejected another one. */
function conflictingTask(error: unknown, { rejectsKnownMessages }: TaskStore): string | undefined {
  const { reason, details } = A2AError.from(error);
  return reason === 'CONFLICT' && rejectsKnownMessages ? details['taskId'] : undefined;
}

function findDuplicate(
  taskStore: TaskStore,
  owner: string,
  knownTaskId: string,
  request: SendRequest,
): MessageClass | Promise<MessageClass> {
  return mapResolved(taskStore.open(owner, knownTaskId), (log) => compareWithTask(log, request));
}

function compareWithTask(
  log: TaskLog | undefined,
  request: SendRequest,
): MessageClass | Promise<MessageClass> {
  if (!log) return newTask;
  const settling = whenSettled(log);
  if (settling) return settling.then(() => compareWithTask(log, request));
  const { message, idempotencyKey } = request;
  const [first] = log.task().history ?? [];
  if (first && isSameMessage(first, message, idempotencyKey !== undefined)) return { kind: 'duplicate', log };
  // A reused message id with different content is a new message, not a repeat.
  if (idempotencyKey === undefined) return newTask;
  throw new A2AError('CONFLICT', 'The Idempotency-Key was used for another message', {
    hint: 'Use a new key for each message.',
  });
}

/** Returns true if the history of a task contains the message, after the given number of messages. */
function isDuplicate({ history }: Task, message: Message, after = 0): boolean {
  return history?.some((earlier, i) => i >= after && isSameMessage(earlier, message)) ?? false;
}

/** @param hasKey - true if the key shows that the ids belong together: 0.1 has no message ids. */
function isSameMessage(earlier: Message, message: Message, hasKey = false): boolean {
  if (!hasKey && earlier.messageId !== message.messageId) return false;
  return earlier.role === message.role && hasSameParts(earlier.parts, message.parts);
}

function hasSameParts(parts: readonly Part[], otherParts: readonly Part[]): boolean {
  if (parts.length !== otherParts.length) return false;
  return parts.every((part, i) => JSON.stringify(part) === JSON.stringify(otherParts[i]));
}
