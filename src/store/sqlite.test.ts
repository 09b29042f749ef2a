import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { A2AError } from '../protocol/errors.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { Task, TaskState } from '../protocol/task.ts';
import type { TaskStore, TaskLog } from './task-store.ts';
import { openDatabase } from './sqlite/database.ts';
import { type SqliteTaskStoreOptions, sqliteTaskStore } from './sqlite.ts';

let folder: string;
let file: string;
let opened: TaskStore[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
  file = join(folder, 'tasks.db');
  opened = [];
});

afterEach(async () => {
  for (const taskStore of opened) await taskStore[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: Partial<SqliteTaskStoreOptions> = {}): Promise<TaskStore> {
  const taskStore = await sqliteTaskStore({ file, ...options });
  opened.push(taskStore);
  return taskStore;
}

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

/** Subscribes in one store to a task of the other and expects all of its events. */
async function expectEventsAcross(writer: TaskStore, reader: TaskStore): Promise<void> {
  const first = await writer.create('ann', newTask('t'));
  await first.whenPersisted();
  const second = await reader.open('ann', 't');
  const events = (async () => {
    const sequences: (number | undefined)[] = [];
    for await (const event of second?.subscribe(1) ?? []) sequences.push(event.sequence);
    return sequences;
  })();
  for (let n = 0; n < 3; n++) {
    first.append(chunk(first, 'x'));
    await first.whenPersisted();
  }
  first.append(status(first, 'completed'));
  expect(await events).toEqual([2, 3, 4, 5]);
}

describe('sqliteTaskStore after reopening', () => {
  it('returns all stored tasks in the same order', async () => {
    const before = await open();
    for (let n = 0; n < 10; n++) {
      const log = await before.create('ann', newTask(`t${n}`), `m${n}`);
      log.append(status(log, 'working'));
      log.append(chunk(log, `${n}`));
      await log.whenPersisted();
    }
    const first = await before.open('ann', 't0');
    first?.append(status(first, 'completed'));
    await first?.whenPersisted();
    await before.putPushConfig('ann', { taskId: 't3', id: 'p', url: 'https://example.com' });
    const pages = [await before.list('ann', { includeArtifacts: true, pageSize: 4 })];
    await before[Symbol.asyncDispose]();

    const after = await open();
    pages.push(await after.list('ann', { includeArtifacts: true, pageSize: 4 }));
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[1]?.tasks.map(({ id }) => id)).toEqual(['t0', 't9', 't8', 't7']);
    expect(await after.findByKey('ann', 'm7')).toBe('t7');
    expect(await after.listPushConfigs('ann', 't3')).toHaveLength(1);
    expect(await after.listUnfinished()).toHaveLength(9);
    const next = await after.list('ann', { pageSize: 4, pageToken: pages[0]?.nextPageToken });
    expect(next.tasks.map(({ id }) => id)).toEqual(['t6', 't5', 't4', 't3']);
    expect(() => after.create('ann', newTask('t4'))).toThrow(expect.objectContaining({ reason: 'CONFLICT' }));
  });

  it('continues the sequence numbers and replays earlier events', async () => {
    const before = await open();
    const log = await before.create('ann', newTask('t'));
    for (let n = 0; n < 5; n++) {
      log.append(chunk(log, `${n}`));
      await log.whenPersisted();
    }
    await before[Symbol.asyncDispose]();

    const after = await open();
    const reopened = await after.open('ann', 't');
    if (!reopened) throw new Error('task not found');
    expect(reopened.task().artifacts?.[0]?.parts).toEqual([{ text: '01234' }]);
    expect(reopened.append(status(reopened, 'completed'), 6)).toBe(7);
    const sequences: (number | undefined)[] = [];
    for await (const event of reopened.subscribe(2)) sequences.push(event.sequence);
    expect(sequences).toEqual([3, 4, 5, 6, 7]);
  });

  it('creates the schema once', async () => {
    const before = await open();
    const log = await before.create('ann', newTask('t'));
    await log.whenPersisted();
    await before[Symbol.asyncDispose]();
    const versions: unknown[] = [];
    for (let n = 0; n < 2; n++) {
      await (await open())[Symbol.asyncDispose]();
      const database = await openDatabase(file);
      versions.push(database.prepare('pragma user_version').get([])?.['user_version']);
      expect(database.prepare('select count(*) as n from tasks').get([])?.['n']).toBe(1);
      database.close();
    }
    expect(versions).toEqual([1, 1]);
  });

  it.each([3, 99])('rejects a file with schema version %i and leaves it unchanged', async (version) => {
    await (await open())[Symbol.asyncDispose]();
    const database = await openDatabase(file);
    database.exec(`pragma user_version = ${version}`);
    await expect(sqliteTaskStore({ file })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The task store file has schema version ${version}; this version of Dragoman supports 1`,
    });
    expect(database.prepare('pragma user_version').get([])?.['user_version']).toBe(version);
    database.close();
  });

  it('names the file that it cannot open', async () => {
    const missing = join(folder, 'missing', 'tasks.db');
    await expect(sqliteTaskStore({ file: missing })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining(missing),
    });
  });

  it('commits pending changes when closed', async () => {
    const before = await open();
    const log = await before.create('ann', newTask('t'));
    log.append(status(log, 'working'));
    const settled = log.whenPersisted();
    await before[Symbol.asyncDispose]();
    await settled;
    expect(() => before.open('ann', 't')).toThrow(expect.objectContaining({ reason: 'UNAVAILABLE' }));
    expect((await (await open()).open('ann', 't'))?.state).toBe('working');
  });
});

describe('change that cannot be serialized', () => {
  it('rejects only its own task', async () => {
    const taskStore = await open();
    const [good, bad, other] = [
      await taskStore.create('ann', newTask('good')),
      await taskStore.create('ann', newTask('bad')),
      await taskStore.create('ann', newTask('other')),
    ];
    bad.append({ ...chunk(bad, 'x'), metadata: { number: 1n } } as TaskChange);
    const results = await Promise.allSettled([
      good.whenPersisted(),
      bad.whenPersisted(),
      other.whenPersisted(),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { reason: 'INTERNAL_ERROR' } });
    expect((await taskStore.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['other', 'good']);
    expect(await taskStore.open('ann', 'bad')).toBeUndefined();
  });
});

describe('sqliteTaskStore with shared', () => {
  const shared = true;

  it('rejects a write of a store that does not hold the task with CONFLICT', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const first = await one.create('ann', newTask('t'));
    const second = await two.open('ann', 't');
    if (!second) throw new Error('task not visible in the other store');
    first.append(status(first, 'working'));
    expect(() => second.append(status(second, 'failed'))).toThrow(
      expect.objectContaining({ reason: 'CONFLICT', details: { taskId: 't' } }),
    );
    expect(await second.claim?.()).toBe(false);
    await first.whenPersisted();
    expect(await two.open('ann', 't')).toMatchObject({ sequence: 2, state: 'working' });
    expect((await two.list('ann', { status: 'working' })).totalSize).toBe(1);
    expect((await two.list('ann', { status: 'failed' })).totalSize).toBe(0);
  });

  it('creates a task id, and a task for a message, only once', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const create = async (ids: readonly string[], messageId?: string) => {
      const [first = '', second = first] = ids;
      const outcomes = [one, two].map(async (taskStore, n) => {
        try {
          await taskStore.create('ann', newTask(n === 0 ? first : second), messageId);
          return 'created';
        } catch (error) {
          return (error as A2AError).reason;
        }
      });
      return (await Promise.all(outcomes)).toSorted();
    };
    expect(await create(['t'])).toEqual(['CONFLICT', 'created']);
    expect(await create(['a', 'b'], 'm')).toEqual(['CONFLICT', 'created']);
    expect((await one.list('ann', {})).totalSize).toBe(2);
    const known = await two.findByKey('ann', 'm');
    await expect(one.create('ann', newTask('c'), 'm')).rejects.toMatchObject({ details: { taskId: known } });
  });

  it('returns changes of the other store when a task is opened, and claims it after a release', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const first = await one.create('ann', newTask('t'));
    const second = await two.open('ann', 't');
    first.append(status(first, 'input-required'));
    first.append(chunk(first, 'x'));
    await first.whenPersisted();
    await nextTurn();
    const reopened = await two.open('ann', 't');
    expect(reopened).toBe(second);
    expect(reopened?.task()).toEqual(first.task());
    expect(await reopened?.claim?.()).toBe(false);
    first.release?.();
    await first.whenPersisted();
    expect(await reopened?.claim?.()).toBe(true);
    reopened?.append(status(reopened, 'completed'));
    await reopened?.whenPersisted();
    await nextTurn();
    expect((await one.open('ann', 't'))?.state).toBe('completed');
  });

  it('passes events of the other store to subscribers', async () => {
    const [one, two] = [await open({ shared }), await open({ shared, pollInterval: 1 })];
    await expectEventsAcross(one, two);
  });

  it('passes events of the other store to subscribers before the next periodic check', async () => {
    const pollInterval = 3_600_000;
    const [one, two] = [await open({ shared, pollInterval }), await open({ shared, pollInterval })];
    await expectEventsAcross(one, two);
  });

  it('rejects an exclusive lease next to shared ones and vice versa', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    expect([one.isShared, two.isShared]).toEqual([true, true]);
    await one[Symbol.asyncDispose]();
    await expect(sqliteTaskStore({ file })).rejects.toMatchObject({ reason: 'CONFLICT' });
    await two[Symbol.asyncDispose]();
    expect((await open()).isShared).toBe(false);
    await expect(sqliteTaskStore({ file, shared })).rejects.toMatchObject({
      reason: 'CONFLICT',
      hint: expect.stringContaining('shared: true'),
    });
  });

  it('fences only the store whose lease was taken over, which then takes a new one', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const logs = [await one.create('ann', newTask('1')), await two.create('ann', newTask('2'))];
    const database = await openDatabase(file);
    database.exec('delete from lease where token = (select min(token) from lease)');
    database.close();
    for (const log of logs) log.append(status(log, 'working'));
    const results = await Promise.allSettled(logs.map(async (log) => log.whenPersisted()));
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const [n, taskStore] of [one, two].entries()) {
      const log = await taskStore.create('ann', newTask(`later ${n}`));
      log.append(status(log, 'working'));
      await log.whenPersisted();
    }
  });
});

describe('SQLite lease', () => {
  it('rejects a second store in the process until the first is closed', async () => {
    const taskStore = await open();
    await expect(sqliteTaskStore({ file })).rejects.toMatchObject({
      reason: 'CONFLICT',
      message: expect.stringContaining(`${file} has been open in this process since 20`),
      hint: expect.stringContaining('withoutLease: true'),
    });
    await (await taskStore.create('ann', newTask('t'))).whenPersisted();
    await taskStore[Symbol.asyncDispose]();
    expect(await (await open()).open('ann', 't')).toBeDefined();
  });

  it('rejects writes after the lease is lost and names the holder only in the cause', async () => {
    const taskStore = await open();
    const log = await taskStore.create('ann', newTask('t'));
    const other = await taskStore.create('ann', newTask('other'));
    await log.whenPersisted();
    const pendingNext = other.subscribe(1).next();
    const database = await openDatabase(file);
    database.exec("update lease set token = 'x', pid = 4711, host = 'elsewhere', since = 0");

    const error = {
      reason: 'UNAVAILABLE',
      message: 'The task store is not available',
      hint: expect.stringContaining('Restart'),
      cause: {
        message: expect.stringMatching(/process 4711 on elsewhere took over the lease of .* at 1970/),
      },
    };
    // The first commit has no status change, the second one has.
    log.append(chunk(log, 'x'));
    await expect(log.whenPersisted()).rejects.toMatchObject(error);
    other.append(status(other, 'working'));
    await expect(other.whenPersisted()).rejects.toMatchObject(error);
    await expect(pendingNext).rejects.toMatchObject(error);
    expect(() => taskStore.create('ann', newTask('new'))).toThrow(error.message);
    await expect(
      taskStore.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' }),
    ).rejects.toMatchObject(error);
    await expect(taskStore.expire(new Date())).rejects.toMatchObject(error);
    expect((await taskStore.open('ann', 't'))?.sequence).toBe(1);
    await taskStore[Symbol.asyncDispose]();
    expect(database.prepare('select token from lease').get([])?.['token']).toBe('x');
    expect(database.prepare('select touched from clock').get([])?.['touched']).toBe(2);
    database.close();
  });

  it('detects a lost lease in a commit with a status change', async () => {
    const taskStore = await open();
    const database = await openDatabase(file);
    database.exec('delete from lease');
    database.close();
    const log = await taskStore.create('ann', newTask('t'));
    await expect(log.whenPersisted()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      cause: { message: expect.stringContaining('took') },
    });
    expect((await taskStore.list('ann', {})).totalSize).toBe(0);
  });
});

describe('sqliteTaskStore with withoutLease', () => {
  it('returns changes of the lease holder when a task is opened', async () => {
    const [holder, leaseless] = [await open(), await open({ withoutLease: true })];
    const first = await holder.create('ann', newTask('t'));
    await first.whenPersisted();
    const second = await leaseless.open('ann', 't');
    first.append(status(first, 'working'));
    first.append(chunk(first, 'x'));
    await first.whenPersisted();
    await nextTurn();
    const reopened = await leaseless.open('ann', 't');
    expect(reopened).toBe(second);
    expect(reopened?.task()).toEqual(first.task());
  });

  it('passes events of the lease holder to subscribers', async () => {
    const [holder, leaseless] = [await open(), await open({ withoutLease: true, pollInterval: 1 })];
    await expectEventsAcross(holder, leaseless);
  });

  it('rejects changes to tasks even if no store holds a lease', async () => {
    const holder = await open();
    await (await holder.create('ann', newTask('t'))).whenPersisted();
    await holder[Symbol.asyncDispose]();
    const leaseless = await open({ withoutLease: true });
    const error = { reason: 'UNSUPPORTED_OPERATION', message: expect.stringContaining('without a lease') };
    expect(() => leaseless.create('ann', newTask('new'))).toThrow(expect.objectContaining(error));
    const log = await leaseless.open('ann', 't');
    log?.append(status(log, 'failed'));
    await expect(log?.whenPersisted()).rejects.toMatchObject(error);
    expect((await leaseless.open('ann', 't'))?.state).toBe('submitted');
    await expect(
      leaseless.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' }),
    ).rejects.toMatchObject(error);
    // It does not prevent another store from taking the lease.
    expect((await (await open()).open('ann', 't'))?.sequence).toBe(1);
  });

  it('retries deliveries and expires tasks, visible to the lease holder', async () => {
    const holder = await open();
    const log = await holder.create('ann', newTask('t'));
    log.append(status(log, 'completed'));
    await log.whenPersisted();
    await holder.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' });
    const leaseless = await open({ withoutLease: true });
    const state = { delivered: 1, attempts: 0 };
    expect(await leaseless.putDelivery('ann', 't', 'p', state)).toBe(true);
    expect(await holder.listDeliveries()).toMatchObject([{ state }]);
    expect(await leaseless.expire(new Date(Date.now() + 1_000))).toBe(0);
    expect(await leaseless.putDelivery('ann', 't', 'p', { delivered: 2, attempts: 0 })).toBe(true);
    expect(await leaseless.expire(new Date(Date.now() + 1_000))).toBe(1);
    await nextTurn();
    expect(await holder.open('ann', 't')).toBeUndefined();
  });
});

describe('log evicted from the cache', () => {
  it('returns the reopened log to callers that still reference it', async () => {
    const taskStore = await open({ maxCachedTasks: 1 });
    const held = await taskStore.create('ann', newTask('held'));
    await held.whenPersisted();
    for (const id of ['b', 'c', 'd']) await (await taskStore.create('ann', newTask(id))).whenPersisted();
    const reopened = await taskStore.open('ann', 'held');
    expect(reopened).toBe(held);
    reopened?.append(status(reopened, 'working'));
    await reopened?.whenPersisted();
    expect(held.task().status.state).toBe('working');
  });

  it('replays from any sequence number, also within a commit', async () => {
    const taskStore = await open({ maxCachedTasks: 1 });
    const log = await taskStore.create('ann', newTask('t'));
    for (let n = 0; n < 4; n++) log.append(chunk(log, `${n}`));
    log.append(status(log, 'completed'));
    await log.whenPersisted();
    await (await taskStore.create('ann', newTask('other'))).whenPersisted();
    const reopened = await taskStore.open('ann', 't');
    expect(reopened).not.toBe(log);
    for (let after = 1; after <= 6; after++) {
      const sequences: (number | undefined)[] = [];
      for await (const event of reopened?.subscribe(after) ?? []) sequences.push(event.sequence);
      expect(sequences).toEqual([2, 3, 4, 5, 6].slice(after - 1));
    }
  });
});

describe('group commit', () => {
  it('writes each change once and few snapshots', async () => {
    const taskStore = await open();
    const log = await taskStore.create('ann', newTask('t'));
    const text = 'x'.repeat(200);
    for (let n = 0; n < 2_000; n++) {
      log.append(chunk(log, text));
      await log.whenPersisted();
    }
    const database = await openDatabase(file);
    const rows = database.prepare('select count(*) as n, sum(length(body)) as size from task_events').get([]);
    const state = database.prepare('select sequence, snapshot_at from tasks').get([]);
    database.close();
    // The snapshot, and each change once.
    expect(rows?.['n']).toBe(2_001);
    expect(Number(rows?.['size'])).toBeLessThan(2_000 * 600);
    expect(state?.['sequence']).toBe(2_001);
    expect(Number(state?.['snapshot_at'])).toBeGreaterThan(500);
    expect(Number(state?.['snapshot_at'])).toBeLessThan(2_001);
  });

  it('publishes all tasks of one event-loop turn at once', async () => {
    const taskStore = await open();
    const one = await taskStore.create('ann', newTask('one'));
    const two = await taskStore.create('ann', newTask('two'));
    expect((await taskStore.list('ann', {})).tasks).toEqual([]);
    await one.whenPersisted();
    expect(two.whenPersisted()).toBeUndefined();
    expect((await taskStore.list('ann', {})).totalSize).toBe(2);
  });
});
