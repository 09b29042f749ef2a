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

async function given(ledger: TaskStore, id: string, ...states: TaskState[]): Promise<TaskLog> {
  const log = await ledger.create('ann', newTask(id), `message of ${id}`);
  for (const state of states) log.append(status(log, state));
  return log;
}

async function all(events: AsyncIterable<StreamEvent> | undefined): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = [];
  for await (const event of events ?? []) taken.push(event);
  return taken;
}

async function idsIn(ledger: TaskStore): Promise<string[]> {
  return (await ledger.list('ann', {})).tasks.map(({ id }) => id);
}

describe('the bounds of a ledger in memory', () => {
  it('forgets the tasks that finished first when there are too many', async () => {
    const ledger = memoryTaskStore({ maxTasks: 3 });
    await given(ledger, 'running', 'working');
    await given(ledger, 'a', 'completed');
    await given(ledger, 'b', 'failed');
    await given(ledger, 'c', 'completed');
    expect(await idsIn(ledger)).toEqual(['c', 'b', 'running']);
    expect(await ledger.open('ann', 'a')).toBeUndefined();
    expect(await ledger.findByMessageId('ann', 'message of a')).toBeUndefined();
  });

  it('never forgets a task that is not finished', async () => {
    const ledger = memoryTaskStore({ maxTasks: 2 });
    for (const id of ['a', 'b', 'c', 'd']) await given(ledger, id, 'working');
    expect(await idsIn(ledger)).toEqual(['d', 'c', 'b', 'a']);
  });

  it('forgets finished tasks that are too old when another one finishes', async () => {
    let now = 1_000_000;
    const ledger = memoryTaskStore({ maxAge: 1_000, now: () => now });
    await given(ledger, 'old', 'completed');
    await given(ledger, 'running', 'working');
    now += 1_000;
    await given(ledger, 'just in time', 'completed');
    expect(await idsIn(ledger)).toEqual(['just in time', 'running', 'old']);
    now += 1;
    await given(ledger, 'next', 'completed');
    expect(await idsIn(ledger)).toEqual(['next', 'just in time', 'running']);
  });

  it('stays in order over many more tasks than it keeps', async () => {
    const ledger = memoryTaskStore({ maxTasks: 50, maxReplayableEvents: 10 });
    for (let n = 0; n < 5_000; n++) await given(ledger, `t${n}`, 'working', 'completed');
    const { tasks, totalSize } = await ledger.list('ann', { pageSize: 100 });
    expect(totalSize).toBe(50);
    expect(tasks.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `t${4_999 - n}`));
    expect((await ledger.list('ann', { status: 'working' })).totalSize).toBe(0);
    expect((await ledger.list('ann', { contextId: 'c' })).totalSize).toBe(50);
    expect(await ledger.expire(new Date(Date.now() + 1_000))).toBe(50);
  });

  it('keeps what the events amount to when it drops the events of a finished task', async () => {
    const ledger = memoryTaskStore({ maxReplayableEvents: 1 });
    const log = await given(ledger, 'old', 'working');
    log.append(chunk(log, 'x'));
    log.append(status(log, 'completed'));
    const task = log.task();
    expect(await all((await ledger.open('ann', 'old'))?.subscribe(1))).toHaveLength(3);
    await given(ledger, 'next', 'completed');

    const again = await ledger.open('ann', 'old');
    expect(again).toMatchObject({ id: 'old', contextId: 'c', sequence: 4, state: 'completed' });
    expect(again?.task()).toEqual(task);
    expect(await all(again?.subscribe(1))).toEqual([{ kind: 'task', task, sequence: 4 }]);
    expect(await all(again?.subscribe(4))).toEqual([]);
    expect((await ledger.list('ann', { includeArtifacts: true })).tasks[1]).toEqual(task);
    // Whoever held the log before reads on as if nothing had happened.
    expect(await all(log.subscribe(1))).toHaveLength(3);
  });

  it('gives the task as it stands to a reader that is too late for the events', async () => {
    const ledger = memoryTaskStore({ maxEvents: 10 });
    const log = await given(ledger, 't', 'working');
    const late = log.subscribe(1);
    expect((await late.next()).value).toMatchObject({ sequence: 2 });
    for (let n = 0; n < 50; n++) log.append(chunk(log, `${n}`));
    const { value } = await late.next();
    expect(value).toMatchObject({ kind: 'task', sequence: 52 });
    expect(value.task.artifacts[0].parts).toHaveLength(50);
    const rest = all(late);
    log.append(status(log, 'completed'));
    expect((await rest).map(({ sequence }) => sequence)).toEqual([53]);
    expect(await all(log.subscribe(50))).toMatchObject([
      { sequence: 51 },
      { sequence: 52 },
      { sequence: 53 },
    ]);
  });
});
