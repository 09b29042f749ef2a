import { describe, expect, it } from 'vitest';
import type { TaskChange } from '../protocol/reduce.ts';
import type { Task, TaskState } from '../protocol/task.ts';
import { memoryTaskStore } from './memory-task-store.ts';
import type { TaskLog, TaskStore } from './task-store.ts';

const kib = 1_024;

const status = ({ id, contextId }: TaskLog, state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: id,
  contextId,
  status: { state },
});

const artifact = ({ id, contextId }: TaskLog, size: number, append = false): TaskChange => ({
  kind: 'artifact',
  taskId: id,
  contextId,
  artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(size) }] },
  append,
});

const newTask = (id: string, size: number): Task => ({
  id,
  contextId: id,
  status: { state: 'submitted' },
  history: [{ messageId: id, role: 'user', parts: [{ text: 'x'.repeat(size) }] }],
});

/** Creates a task of a size. */
async function add(
  taskStore: TaskStore,
  owner: string,
  id: string,
  size: number,
  state: TaskState = 'completed',
): Promise<TaskLog> {
  const log = await taskStore.create(owner, newTask(id, size), id);
  log.append(status(log, state));
  return log;
}

async function idsOf(taskStore: TaskStore, owner: string): Promise<string[]> {
  const { tasks } = await taskStore.list(owner, { pageSize: 100 });
  return tasks.map(({ id }) => id).toReversed();
}

const exhausted = expect.objectContaining({ reason: 'RESOURCE_EXHAUSTED' });

describe('memoryTaskStore with limits in bytes', () => {
  it('evicts the oldest finished tasks of an owner above maxOwnerBytes', async () => {
    const taskStore = memoryTaskStore({ maxBytes: 1_000 * kib, maxOwnerBytes: 100 * kib });
    await add(taskStore, 'bob', 'theirs', 50 * kib);
    for (let n = 0; n < 10; n++) await add(taskStore, 'ann', `t${n}`, 30 * kib);
    expect(await idsOf(taskStore, 'ann')).toEqual(['t7', 't8', 't9']);
    expect(await idsOf(taskStore, 'bob')).toEqual(['theirs']);
    expect(taskStore.usage?.()).toMatchObject({ tasks: 4, evicted: 7 });
  });

  it('evicts no task of an owner below its share, neither by size nor by count', async () => {
    for (const limits of [{ maxBytes: 200 * kib }, { maxTasks: 12 }]) {
      const taskStore = memoryTaskStore({ maxOwnerBytes: 10_000 * kib, ...limits });
      await add(taskStore, 'bob', 'b1', 10 * kib);
      await add(taskStore, 'cid', 'c1', 10 * kib);
      for (let n = 0; n < 50; n++) await add(taskStore, 'ann', `t${n}`, 15 * kib);
      expect(await idsOf(taskStore, 'bob')).toEqual(['b1']);
      expect(await idsOf(taskStore, 'cid')).toEqual(['c1']);
      // An owner below its share gets room at the cost of the largest owner.
      await add(taskStore, 'dan', 'd1', 20 * kib);
      expect(await idsOf(taskStore, 'dan')).toEqual(['d1']);
      expect(await idsOf(taskStore, 'bob')).toEqual(['b1']);
      expect((await idsOf(taskStore, 'ann')).at(-1)).toBe('t49');
    }
  });

  it('rejects new tasks instead of evicting unfinished ones', async () => {
    const taskStore = memoryTaskStore({ maxBytes: 200 * kib });
    const running = [];
    for (let n = 0; n < 3; n++) running.push(await add(taskStore, 'ann', `t${n}`, 30 * kib, 'working'));
    expect(() => taskStore.create('ann', newTask('one too many', 30 * kib))).toThrow(exhausted);
    expect(await idsOf(taskStore, 'ann')).toEqual(['t0', 't1', 't2']);
    await add(taskStore, 'bob', 'theirs', 30 * kib);
    running[0]?.append(status(running[0], 'completed'));
    await add(taskStore, 'ann', 'next', 30 * kib);
    expect(await idsOf(taskStore, 'ann')).toEqual(['t1', 't2', 'next']);
  });

  it('rejects changes above maxTaskBytes but accepts the final status', async () => {
    const taskStore = memoryTaskStore({ maxTaskBytes: 100 * kib });
    expect(() => taskStore.create('ann', newTask('large', 101 * kib))).toThrow(exhausted);
    const log = await add(taskStore, 'ann', 't', 40 * kib, 'working');
    log.append(artifact(log, 40 * kib));
    expect(() => log.append(artifact(log, 40 * kib, true))).toThrow(exhausted);
    expect(log.task().artifacts?.[0]?.parts).toHaveLength(1);
    log.append(status(log, 'failed'));
    expect(log.state).toBe('failed');
  });

  it('discards events before it rejects a change of a task', async () => {
    const taskStore = memoryTaskStore({ maxTaskBytes: 100 * kib });
    const log = await add(taskStore, 'ann', 't', 1 * kib, 'working');
    for (let n = 0; n < 20; n++) log.append(artifact(log, 40 * kib));
    expect(taskStore.usage?.().bytes).toBeLessThan(110 * kib);
    const { value } = await log.subscribe(1).next();
    expect(value).toMatchObject({ kind: 'task' });
  });

  it('counts the same size for equal content, and nothing after all tasks were deleted', async () => {
    const taskStore = memoryTaskStore({ maxReplayableEvents: 1 });
    const data = { list: Array.from({ length: 100 }, () => ({ name: 'x'.repeat(100) })) };
    const log = await taskStore.create('ann', {
      ...newTask('t', 10),
      history: [{ messageId: 'm', role: 'user', parts: [{ data }] }],
    });
    expect(taskStore.usage?.().bytes).toBeGreaterThan(10_000);
    log.append(status(log, 'completed'));
    for (let n = 0; n < 2_500; n++) await add(taskStore, `owner ${n % 7}`, `t${n}`, 10);
    expect(taskStore.usage?.().tasks).toBe(2_501);
    expect(await taskStore.expire(new Date(Date.now() + 1_000))).toBe(2_501);
    expect(taskStore.usage?.()).toEqual({ tasks: 0, bytes: 0, evicted: 0 });
  });
});
