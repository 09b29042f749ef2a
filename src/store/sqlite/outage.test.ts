import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { A2AError } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import type { TaskLog, TaskStore } from '../task-store.ts';
import { sqliteTaskStore } from '../sqlite.ts';
import { type Database, openDatabase } from './database.ts';

let folder: string;
let taskStore: TaskStore;
let other: Database;
const outages: (A2AError | undefined)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-outage-'));
  const file = join(folder, 'tasks.db');
  outages.length = 0;
  taskStore = await sqliteTaskStore({ file, busyTimeout: 0, onOutage: (error) => outages.push(error) });
  other = await openDatabase(file);
});

afterEach(async () => {
  other.close();
  await taskStore[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const newTask = (id: string): Task => ({ id, contextId: 'c', status: { state: 'submitted' } });

const status = ({ id, contextId }: TaskLog, state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: id,
  contextId,
  status: { state },
});

const unavailable = { reason: 'UNAVAILABLE', details: { retryAfter: '1' } };

it('stores the events of existing tasks after a foreign lock and shows nothing before', async () => {
  const log = await taskStore.create('ann', newTask('old'));
  await log.whenPersisted();
  const events = log.subscribe(1);
  const first = events.next();

  other.exec('begin exclusive');
  log.append(status(log, 'working'));
  await expect(log.whenPersisted()).rejects.toMatchObject(unavailable);
  expect(taskStore.outage?.()).toMatchObject({ error: unavailable, ended: expect.any(Promise) });
  expect(outages).toMatchObject([unavailable]);
  log.append(status(log, 'completed'));
  await expect(log.whenPersisted()).rejects.toMatchObject(unavailable);
  expect(log.task().status.state).toBe('submitted');
  expect((await taskStore.list('ann', {})).tasks).toMatchObject([{ status: { state: 'submitted' } }]);

  other.exec('rollback');
  await taskStore.outage?.()?.ended;
  expect(outages).toHaveLength(2);
  expect(taskStore.outage?.()).toBeUndefined();
  expect([await first, await events.next(), await events.next()]).toMatchObject([
    { value: { sequence: 2, status: { state: 'working' } } },
    { value: { sequence: 3, status: { state: 'completed' } } },
    { done: true },
  ]);
  await log.whenPersisted();
  expect(await taskStore.list('ann', {})).toMatchObject({
    tasks: [{ id: 'old', status: { state: 'completed' } }],
    totalSize: 1,
  });
});

it('rejects new tasks during a foreign lock and creates them afterwards', async () => {
  await (await taskStore.create('ann', newTask('old'))).whenPersisted();
  other.exec('begin exclusive');
  const fresh = await taskStore.create('ann', newTask('fresh'), 'm');
  const abandoned: A2AError[] = [];
  fresh.onAbandoned = (_log, error) => abandoned.push(error);
  await expect(fresh.whenPersisted()).rejects.toMatchObject(unavailable);
  await expect(fresh.subscribe(0).next()).rejects.toMatchObject(unavailable);
  expect(() => fresh.append(status(fresh, 'working'))).toThrow(expect.objectContaining(unavailable));
  expect(abandoned).toMatchObject([unavailable]);
  expect(await taskStore.open('ann', 'fresh')).toBeUndefined();
  expect(await taskStore.findByKey('ann', 'm')).toBeUndefined();
  expect(() => taskStore.create('ann', newTask('next'))).toThrow(expect.objectContaining(unavailable));
  await expect(
    taskStore.putPushConfig('ann', { taskId: 'old', id: 'p', url: 'https://example.com' }),
  ).rejects.toMatchObject(unavailable);

  other.exec('rollback');
  await taskStore.outage?.()?.ended;
  await (await taskStore.create('ann', newTask('fresh'), 'm')).whenPersisted();
  expect((await taskStore.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['fresh', 'old']);
  expect((await taskStore.list('ann', {})).totalSize).toBe(2);
});

it('begins an outage when a push configuration cannot be written, and ends it without pending changes', async () => {
  await (await taskStore.create('ann', newTask('t'))).whenPersisted();
  other.exec('begin exclusive');
  const config = { taskId: 't', id: 'p', url: 'https://example.com' };
  await expect(taskStore.putPushConfig('ann', config)).rejects.toMatchObject(unavailable);
  expect(taskStore.outage?.()).toMatchObject({ error: unavailable });
  other.exec('rollback');
  await taskStore.outage?.()?.ended;
  await taskStore.putPushConfig('ann', config);
  expect(await taskStore.listPushConfigs('ann', 't')).toHaveLength(1);
});

it('abandons pending changes when it is closed during an outage', async () => {
  const log = await taskStore.create('ann', newTask('t'));
  await log.whenPersisted();
  const pendingNext = log.subscribe(1).next();
  other.exec('begin exclusive');
  log.append(status(log, 'completed'));
  await expect(log.whenPersisted()).rejects.toMatchObject(unavailable);
  const ended = taskStore.outage?.()?.ended;
  await taskStore[Symbol.asyncDispose]();
  await ended;
  await expect(pendingNext).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  other.exec('rollback');
  expect(other.prepare('select state from tasks').get([])).toMatchObject({ state: 'submitted' });
});

it('rejects new tasks while a file of limited size is full, until finished tasks are deleted', async () => {
  const file = join(folder, 'limited.db');
  await using limited = await sqliteTaskStore({ file, maxFileBytes: 512 * 1_024, busyTimeout: 0 });
  const metadata = { text: 'x'.repeat(20_000) };
  const createFinished = async (id: string): Promise<void> => {
    const log = await limited.create('ann', { ...newTask(id), status: { state: 'completed' }, metadata });
    await log.whenPersisted();
  };
  let count = 0;
  const fill = async (): Promise<void> => {
    for (;;) await createFinished(`t${count++}`);
  };
  await expect(fill()).rejects.toMatchObject(unavailable);
  expect(count).toBeGreaterThan(5);

  expect(await limited.expire(new Date(Date.now() + 1))).toBe(count - 1);
  await limited.outage?.()?.ended;
  await createFinished('later');
  expect((await limited.list('ann', {})).totalSize).toBe(1);
});
