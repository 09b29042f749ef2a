import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../protocol/event.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { Task, TaskState } from '../protocol/task.ts';
import type { TaskStore, TaskLog } from './task-store.ts';
import { memoryTaskStore } from './memory-task-store.ts';

const newTask = (id: string): Task => ({ id, contextId: 'c', status: { state: 'submitted' } });

const status = ({ id, contextId }: TaskLog, state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: id,
  contextId,
  status: { state },
});

const chunk = ({ id, contextId }: TaskLog, text: string): TaskChange => ({
  kind: 'artifact',
  taskId: id,
  contextId,
  artifact: { artifactId: 'a', parts: [{ text }] },
  append: true,
});

async function createTask(taskStore: TaskStore, id: string, ...states: TaskState[]): Promise<TaskLog> {
  const log = await taskStore.create('ann', newTask(id), `message of ${id}`);
  for (const state of states) log.append(status(log, state));
  return log;
}

async function collect(events: AsyncIterable<StreamEvent> | undefined): Promise<StreamEvent[]> {
  const collected: StreamEvent[] = [];
  for await (const event of events ?? []) collected.push(event);
  return collected;
}

async function listIds(taskStore: TaskStore): Promise<string[]> {
  return (await taskStore.list('ann', {})).tasks.map(({ id }) => id);
}

describe('memoryTaskStore', () => {
  it('evicts the tasks that finished first when maxTasks is exceeded', async () => {
    const taskStore = memoryTaskStore({ maxTasks: 3 });
    await createTask(taskStore, 'running', 'working');
    await createTask(taskStore, 'a', 'completed');
    await createTask(taskStore, 'b', 'failed');
    await createTask(taskStore, 'c', 'completed');
    expect(await listIds(taskStore)).toEqual(['c', 'b', 'running']);
    expect(await taskStore.open('ann', 'a')).toBeUndefined();
    expect(await taskStore.findByKey('ann', 'message of a')).toBeUndefined();
  });

  it('never evicts an unfinished task', async () => {
    const taskStore = memoryTaskStore({ maxTasks: 2 });
    for (const id of ['a', 'b', 'c', 'd']) await createTask(taskStore, id, 'working');
    expect(await listIds(taskStore)).toEqual(['d', 'c', 'b', 'a']);
  });

  it('evicts finished tasks older than maxAge when another task finishes', async () => {
    let now = 1_000_000;
    const taskStore = memoryTaskStore({ maxAge: 1_000, now: () => now });
    await createTask(taskStore, 'old', 'completed');
    await createTask(taskStore, 'running', 'working');
    now += 1_000;
    await createTask(taskStore, 'just in time', 'completed');
    expect(await listIds(taskStore)).toEqual(['just in time', 'running', 'old']);
    now += 1;
    await createTask(taskStore, 'next', 'completed');
    expect(await listIds(taskStore)).toEqual(['next', 'just in time', 'running']);
  });

  it('keeps the list order after many evictions', async () => {
    const taskStore = memoryTaskStore({ maxTasks: 50, maxReplayableEvents: 10 });
    for (let n = 0; n < 5_000; n++) await createTask(taskStore, `t${n}`, 'working', 'completed');
    const { tasks, totalSize } = await taskStore.list('ann', { pageSize: 100 });
    expect(totalSize).toBe(50);
    expect(tasks.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `t${4_999 - n}`));
    expect((await taskStore.list('ann', { status: 'working' })).totalSize).toBe(0);
    expect((await taskStore.list('ann', { contextId: 'c' })).totalSize).toBe(50);
    expect(await taskStore.expire(new Date(Date.now() + 1_000))).toBe(50);
  });

  it('retains the final task when maxReplayableEvents evicts its events', async () => {
    const taskStore = memoryTaskStore({ maxReplayableEvents: 1 });
    const log = await createTask(taskStore, 'old', 'working');
    log.append(chunk(log, 'x'));
    log.append(status(log, 'completed'));
    const task = log.task();
    expect(await collect((await taskStore.open('ann', 'old'))?.subscribe(1))).toHaveLength(3);
    await createTask(taskStore, 'next', 'completed');

    const reopened = await taskStore.open('ann', 'old');
    expect(reopened).toMatchObject({ id: 'old', contextId: 'c', sequence: 4, state: 'completed' });
    expect(reopened?.task()).toEqual(task);
    expect(await collect(reopened?.subscribe(1))).toEqual([{ kind: 'task', task, sequence: 4 }]);
    expect(await collect(reopened?.subscribe(4))).toEqual([]);
    expect((await taskStore.list('ann', { includeArtifacts: true })).tasks[1]).toEqual(task);
    // A log opened before the eviction keeps its events.
    expect(await collect(log.subscribe(1))).toHaveLength(3);
  });

  it('returns a snapshot to a subscriber more than maxEvents behind', async () => {
    const taskStore = memoryTaskStore({ maxEvents: 10 });
    const log = await createTask(taskStore, 't', 'working');
    const late = log.subscribe(1);
    expect((await late.next()).value).toMatchObject({ sequence: 2 });
    for (let n = 0; n < 50; n++) log.append(chunk(log, `${n}`));
    const { value } = await late.next();
    expect(value).toMatchObject({ kind: 'task', sequence: 52 });
    expect(value.task.artifacts[0].parts).toEqual([
      { text: Array.from({ length: 50 }, (_, n) => n).join('') },
    ]);
    const rest = collect(late);
    log.append(status(log, 'completed'));
    expect((await rest).map(({ sequence }) => sequence)).toEqual([53]);
    expect(await collect(log.subscribe(50))).toMatchObject([
      { sequence: 51 },
      { sequence: 52 },
      { sequence: 53 },
    ]);
  });
});
