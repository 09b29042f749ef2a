import type { TaskStore, TaskLog } from '../../../src/store/task-store.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { TaskChange } from '../../../src/protocol/reduce.ts';
import type { Task, TaskState } from '../../../src/protocol/task.ts';

export const owner = 'ann';

export function message(messageId: string, text = 'hello'): Message {
  return { messageId, role: 'user', parts: [{ text }] };
}

export function newTask(id: string, more: Partial<Task> = {}): Task {
  return { id, contextId: `context of ${id}`, status: { state: 'submitted' }, ...more };
}

export function status(log: TaskLog, state: TaskState, text?: string): TaskChange {
  return {
    kind: 'status',
    taskId: log.id,
    contextId: log.contextId,
    status: {
      state,
      ...(text === undefined ? {} : { message: { ...message(`says ${text}`, text), role: 'agent' } }),
    },
  };
}

export function chunk(log: TaskLog, text: string, append = true): TaskChange {
  return {
    kind: 'artifact',
    taskId: log.id,
    contextId: log.contextId,
    artifact: { artifactId: 'a', parts: [{ text }] },
    append,
  };
}

/** Creates a task, appends the states and waits until they are persisted. */
export async function createTask(
  taskStore: TaskStore,
  id: string,
  states: readonly TaskState[] = [],
  more: Partial<Task> = {},
  as = owner,
): Promise<TaskLog> {
  const log = await taskStore.create(as, newTask(id, more));
  for (const state of states) log.append(status(log, state));
  await log.whenPersisted();
  return log;
}

/** Opens a task in order to change it. */
export async function openToChange(taskStore: TaskStore, id: string): Promise<TaskLog> {
  const log = await taskStore.open(owner, id);
  if (!log) throw new Error(`The task ${id} was not found`);
  if (!(await (log.claim?.() ?? true))) throw new Error(`Another process holds the task ${id}`);
  return log;
}

/** Reads events until the iterator ends or `limit` is reached. */
export async function collect(
  events: AsyncIterable<StreamEvent> | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<StreamEvent[]> {
  const collected: StreamEvent[] = [];
  for await (const event of events ?? []) {
    collected.push(event);
    if (collected.length >= limit) break;
  }
  return collected;
}

export function sequences(events: readonly StreamEvent[]): (number | undefined)[] {
  return events.map(({ sequence }) => sequence);
}
