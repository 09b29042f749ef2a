import { type Operation, operationNames } from '../protocol/agent.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import { isTask, type Task, type TaskState } from '../protocol/task.ts';
import type { Attributes } from './tracing.ts';

/** Returns the attributes of a request by the semantic conventions for A2A. Contents of messages are no attributes. */
export function requestAttributes(
  operation: Operation,
  request: unknown,
  { version, binding, tenant }: { version: string; binding: string; tenant?: string | undefined },
): Attributes {
  const { id, taskId, clientTaskId, contextId, message } = request as {
    id?: string;
    taskId?: string;
    clientTaskId?: string;
    contextId?: string;
    message?: Message;
  };
  return {
    'a2a.method.name': operationNames[operation],
    'a2a.protocol.version': version,
    'a2a.protocol.binding': binding,
    'a2a.tenant': tenant || undefined,
    'a2a.message.id': message?.messageId,
    'a2a.message.reference_task_ids': message?.referenceTaskIds,
    // `id` is the task id, except in push configuration requests.
    'a2a.task.id': taskId ?? message?.taskId ?? clientTaskId ?? id,
    'gen_ai.conversation.id': message?.contextId ?? contextId,
  };
}

/** Returns the attributes of a result that is a task or a message. */
export function resultAttributes(result: unknown): Attributes {
  if (typeof result !== 'object' || result === null) return {};
  const { status, contextId, parts } = result as Partial<Task> & Partial<Message>;
  if (status === undefined && parts === undefined) return {};
  const found = result as Task | Message;
  return {
    'a2a.task.id': isTask(found) ? found.id : found.taskId,
    'a2a.task.state': status && taskStateName(status.state),
    'gen_ai.conversation.id': contextId,
  };
}

/** Returns the attributes of an event of a stream. */
export function eventAttributes(event: StreamEvent): Attributes {
  if (event.kind === 'task') return resultAttributes(event.task);
  if (event.kind === 'message') return resultAttributes(event.message);
  return {
    'a2a.task.id': event.taskId,
    'a2a.task.state': event.kind === 'status' ? taskStateName(event.status.state) : undefined,
    'gen_ai.conversation.id': event.contextId,
  };
}

/** Returns the name of a state in the specification, such as `TASK_STATE_INPUT_REQUIRED`. */
export function taskStateName(state: TaskState): string {
  return state === 'unknown'
    ? 'TASK_STATE_UNSPECIFIED'
    : `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`;
}
