import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
  file = join(folder, 'ledger.db');
  opened = [];
});

afterEach(async () => {
  for (const ledger of opened) await ledger[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: Partial<SqliteTaskStoreOptions> = {}): Promise<TaskStore> {
  const ledger = await sqliteTaskStore({ file, ...options });
  opened.push(ledger);
  return ledger;
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

/** Follows with one ledger what another one does. */
async function followed(writer: TaskStore, reader: TaskStore): Promise<void> {
  const mine = await writer.create('ann', newTask('t'));
  await mine.whenPersisted();
  const theirs = await reader.open('ann', 't');
  const events = (async () => {
    const seen: (number | undefined)[] = [];
    for await (const event of theirs?.subscribe(1) ?? []) seen.push(event.sequence);
    return seen;
  })();
  for (let n = 0; n < 3; n++) {
    mine.append(chunk(mine, 'x'));
    await mine.whenPersisted();
  }
  mine.append(status(mine, 'completed'));
  expect(await events).toEqual([2, 3, 4, 5]);
}

describe('a ledger file that is opened again', () => {
  it('has everything that was stored, in the same order', async () => {
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
    expect(await after.findByMessageId('ann', 'm7')).toBe('t7');
    expect(await after.listPushConfigs('ann', 't3')).toHaveLength(1);
    expect(await after.listUnfinished()).toHaveLength(9);
    const next = await after.list('ann', { pageSize: 4, pageToken: pages[0]?.nextPageToken });
    expect(next.tasks.map(({ id }) => id)).toEqual(['t6', 't5', 't4', 't3']);
    expect(() => after.create('ann', newTask('t4'))).toThrow(expect.objectContaining({ reason: 'CONFLICT' }));
  });

  it('goes on counting where it stopped, and replays what was before', async () => {
    const before = await open();
    const log = await before.create('ann', newTask('t'));
    for (let n = 0; n < 5; n++) {
      log.append(chunk(log, `${n}`));
      await log.whenPersisted();
    }
    await before[Symbol.asyncDispose]();

    const after = await open();
    const again = await after.open('ann', 't');
    if (!again) throw new Error('the task is gone');
    expect(again.task().artifacts?.[0]?.parts).toHaveLength(5);
    expect(again.append(status(again, 'completed'), 6)).toBe(7);
    const seen: (number | undefined)[] = [];
    for await (const event of again.subscribe(2)) seen.push(event.sequence);
    expect(seen).toEqual([3, 4, 5, 6, 7]);
  });

  it('is brought to the newest schema once', async () => {
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
    expect(versions).toEqual([3, 3]);
  });

  it('takes over webhooks of an older file without telling them what is past', async () => {
    const before = await open();
    const old = await before.create('ann', newTask('old'));
    old.append(status(old, 'completed'));
    const young = await before.create('ann', newTask('young'));
    await young.whenPersisted();
    for (const taskId of ['old', 'young'])
      await before.putPushConfig('ann', { taskId, id: 'p', url: 'https://example.com' });
    await before[Symbol.asyncDispose]();
    const database = await openDatabase(file);
    database.exec('drop index push_configs_unfinished');
    for (const column of ['delivered', 'trouble', 'finished'])
      database.exec(`alter table push_configs drop column ${column}`);
    database.exec('drop table lease');
    database.exec('pragma user_version = 1');
    database.close();
    const after = await open();
    expect(await after.listPushConfigs('ann', 'old')).toHaveLength(1);
    expect(await after.listDeliveries()).toMatchObject([
      { config: { taskId: 'young' }, state: { delivered: 1, attempts: 0 }, sequence: 1 },
    ]);
    await after[Symbol.asyncDispose]();
  });

  it('is left alone when a newer program wrote it', async () => {
    await (await open())[Symbol.asyncDispose]();
    const database = await openDatabase(file);
    database.exec('pragma user_version = 99');
    database.close();
    await expect(sqliteTaskStore({ file })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });

  it('says which file it cannot open', async () => {
    const missing = join(folder, 'missing', 'ledger.db');
    await expect(sqliteTaskStore({ file: missing })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining(missing),
    });
  });

  it('writes what still waits when it is closed', async () => {
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

describe('a commit that fails', () => {
  it('shows nothing of it, tells everybody who waits, and goes on from what is stored', async () => {
    const ledger = await open({ busyTimeout: 0 });
    const old = await ledger.create('ann', newTask('old'));
    await old.whenPersisted();
    const following = old.subscribe(1).next();

    const other = await openDatabase(file);
    other.exec('begin immediate');
    old.append(status(old, 'completed'));
    const fresh = await ledger.create('ann', newTask('fresh'), 'm');
    const unheard = await ledger.create('ann', newTask('unheard'));
    const results = await Promise.allSettled([
      old.whenPersisted(),
      fresh.whenPersisted(),
      following,
      fresh.subscribe(0).next(),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { reason: 'UNAVAILABLE' } });
    }
    expect(old.task().status.state).toBe('submitted');
    expect(() => old.append(status(old, 'failed'))).toThrow(
      expect.objectContaining({ reason: 'UNAVAILABLE' }),
    );
    await expect(unheard.whenPersisted()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    await expect(unheard.subscribe(0).next()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(await ledger.open('ann', 'fresh')).toBeUndefined();
    expect(await ledger.findByMessageId('ann', 'm')).toBeUndefined();
    other.exec('rollback');
    other.close();

    const reopened = await ledger.open('ann', 'old');
    expect(reopened?.sequence).toBe(1);
    reopened?.append(status(reopened, 'working'));
    await reopened?.whenPersisted();
    const again = await ledger.create('ann', newTask('fresh'), 'm');
    await again.whenPersisted();
    expect((await ledger.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['fresh', 'old']);
    expect((await ledger.list('ann', {})).totalSize).toBe(2);
  });
});

describe('a change that is no JSON', () => {
  it('fails alone', async () => {
    const ledger = await open();
    const [good, bad, other] = [
      await ledger.create('ann', newTask('good')),
      await ledger.create('ann', newTask('bad')),
      await ledger.create('ann', newTask('other')),
    ];
    bad.append({ ...chunk(bad, 'x'), metadata: { number: 1n } } as TaskChange);
    const results = await Promise.allSettled([
      good.whenPersisted(),
      bad.whenPersisted(),
      other.whenPersisted(),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { reason: 'INTERNAL_ERROR' } });
    expect((await ledger.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['other', 'good']);
    expect(await ledger.open('ann', 'bad')).toBeUndefined();
  });
});

describe('two ledgers that share a file', () => {
  const shared = true;

  it('do not overwrite each other', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const mine = await one.create('ann', newTask('t'));
    await mine.whenPersisted();
    const theirs = await two.open('ann', 't');
    if (!theirs) throw new Error('the other ledger does not see the task');

    mine.append(status(mine, 'working'));
    theirs.append(status(theirs, 'failed'));
    const bystander = await two.create('ann', newTask('bystander'));
    const results = await Promise.allSettled([
      mine.whenPersisted(),
      theirs.whenPersisted(),
      bystander.whenPersisted(),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { reason: 'CONFLICT', details: { taskId: 't' } } });
    const again = await two.open('ann', 't');
    expect(again).toMatchObject({ sequence: 2, state: 'working' });
    expect((await two.list('ann', { status: 'working' })).totalSize).toBe(1);
    expect((await two.list('ann', { status: 'failed' })).totalSize).toBe(0);
    expect((await two.list('ann', {})).totalSize).toBe(2);
  });

  it('do not both make the same task', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const mine = await one.create('ann', newTask('t'));
    const theirs = await two.create('ann', newTask('t'));
    const results = await Promise.allSettled([mine.whenPersisted(), theirs.whenPersisted()]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await one.list('ann', {})).totalSize).toBe(1);
  });

  it('see each other’s changes when they open a task', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const mine = await one.create('ann', newTask('t'));
    await mine.whenPersisted();
    const theirs = await two.open('ann', 't');
    mine.append(status(mine, 'working'));
    mine.append(chunk(mine, 'x'));
    await mine.whenPersisted();
    await nextTurn();
    const again = await two.open('ann', 't');
    expect(again).toBe(theirs);
    expect(again?.task()).toEqual(mine.task());
    again?.append(status(again, 'completed'));
    await again?.whenPersisted();
    await nextTurn();
    expect((await one.open('ann', 't'))?.state).toBe('completed');
  });

  it('let followers see what the other one does', async () => {
    const [one, two] = [await open({ shared }), await open({ shared, pollInterval: 1 })];
    await followed(one, two);
  });

  it('refuse who wants the file alone, and the other way round', async () => {
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

  it('lose it one by one', async () => {
    const [one, two] = [await open({ shared }), await open({ shared })];
    const database = await openDatabase(file);
    database.exec('delete from lease where token = (select min(token) from lease)');
    database.close();
    const [mine, theirs] = [await one.create('ann', newTask('1')), await two.create('ann', newTask('2'))];
    const results = await Promise.allSettled([mine.whenPersisted(), theirs.whenPersisted()]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a file that is held', () => {
  it('is not opened a second time, and is free when it is closed', async () => {
    const ledger = await open();
    await expect(sqliteTaskStore({ file })).rejects.toMatchObject({
      reason: 'CONFLICT',
      message: expect.stringContaining(`${file} is open in this process already, since 20`),
      hint: expect.stringContaining('guest: true'),
    });
    await (await ledger.create('ann', newTask('t'))).whenPersisted();
    await ledger[Symbol.asyncDispose]();
    expect(await (await open()).open('ann', 't')).toBeDefined();
  });

  it('is left alone by who has lost it, with words for its people and none for strangers', async () => {
    const ledger = await open();
    const log = await ledger.create('ann', newTask('t'));
    const other = await ledger.create('ann', newTask('other'));
    await log.whenPersisted();
    const following = other.subscribe(1).next();
    const database = await openDatabase(file);
    database.exec("update lease set token = 'x', pid = 4711, host = 'elsewhere', since = 0");

    const fault = {
      reason: 'UNAVAILABLE',
      message: 'The task store is not available',
      hint: expect.stringContaining('Restart'),
      cause: { message: expect.stringMatching(/process 4711 on elsewhere took .* over at 1970/) },
    };
    // One commit only adds to a task, and the other moves one as well.
    log.append(chunk(log, 'x'));
    await expect(log.whenPersisted()).rejects.toMatchObject(fault);
    other.append(status(other, 'working'));
    await expect(other.whenPersisted()).rejects.toMatchObject(fault);
    await expect(following).rejects.toMatchObject(fault);
    expect(() => ledger.create('ann', newTask('new'))).toThrow(fault.message);
    await expect(
      ledger.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' }),
    ).rejects.toMatchObject(fault);
    await expect(ledger.expire(new Date())).rejects.toMatchObject(fault);
    expect((await ledger.open('ann', 't'))?.sequence).toBe(1);
    await ledger[Symbol.asyncDispose]();
    expect(database.prepare('select token from lease').get([])?.['token']).toBe('x');
    expect(database.prepare('select touched from clock').get([])?.['touched']).toBe(2);
    database.close();
  });

  it('is lost at the first commit that moves a task, too', async () => {
    const ledger = await open();
    const database = await openDatabase(file);
    database.exec('delete from lease');
    database.close();
    const log = await ledger.create('ann', newTask('t'));
    await expect(log.whenPersisted()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      cause: { message: expect.stringContaining('took') },
    });
    expect((await ledger.list('ann', {})).totalSize).toBe(0);
  });
});

describe('a guest', () => {
  it('sees the changes of a task when it opens it', async () => {
    const [holder, guest] = [await open(), await open({ withoutLease: true })];
    const mine = await holder.create('ann', newTask('t'));
    await mine.whenPersisted();
    const theirs = await guest.open('ann', 't');
    mine.append(status(mine, 'working'));
    mine.append(chunk(mine, 'x'));
    await mine.whenPersisted();
    await nextTurn();
    const again = await guest.open('ann', 't');
    expect(again).toBe(theirs);
    expect(again?.task()).toEqual(mine.task());
  });

  it('follows what the holder does', async () => {
    const [holder, guest] = [await open(), await open({ withoutLease: true, pollInterval: 1 })];
    await followed(holder, guest);
  });

  it('changes no task, be the file held or not', async () => {
    const holder = await open();
    await (await holder.create('ann', newTask('t'))).whenPersisted();
    await holder[Symbol.asyncDispose]();
    const guest = await open({ withoutLease: true });
    const fault = { reason: 'UNSUPPORTED_OPERATION', message: expect.stringContaining('guest') };
    expect(() => guest.create('ann', newTask('new'))).toThrow(expect.objectContaining(fault));
    const log = await guest.open('ann', 't');
    log?.append(status(log, 'failed'));
    await expect(log?.whenPersisted()).rejects.toMatchObject(fault);
    expect((await guest.open('ann', 't'))?.state).toBe('submitted');
    await expect(
      guest.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' }),
    ).rejects.toMatchObject(fault);
    // It was never in the way of the next holder.
    expect((await (await open()).open('ann', 't'))?.sequence).toBe(1);
  });

  it('lets webhooks be tried again and tasks expire, and the holder notices', async () => {
    const holder = await open();
    const log = await holder.create('ann', newTask('t'));
    log.append(status(log, 'completed'));
    await log.whenPersisted();
    await holder.putPushConfig('ann', { taskId: 't', id: 'p', url: 'https://example.com' });
    const guest = await open({ withoutLease: true });
    const state = { delivered: 1, attempts: 0 };
    expect(await guest.putDelivery('ann', 't', 'p', state)).toBe(true);
    expect(await holder.listDeliveries()).toMatchObject([{ state }]);
    expect(await guest.expire(new Date(Date.now() + 1_000))).toBe(1);
    await nextTurn();
    expect(await holder.open('ann', 't')).toBeUndefined();
  });
});

describe('a log that left the cache', () => {
  it('is given out again as long as somebody holds it', async () => {
    const ledger = await open({ maxCachedTasks: 1 });
    const held = await ledger.create('ann', newTask('held'));
    await held.whenPersisted();
    for (const id of ['b', 'c', 'd']) await (await ledger.create('ann', newTask(id))).whenPersisted();
    const again = await ledger.open('ann', 'held');
    expect(again).toBe(held);
    again?.append(status(again, 'working'));
    await again?.whenPersisted();
    expect(held.task().status.state).toBe('working');
  });

  it('is read from disk from any place, be it in the middle of a commit', async () => {
    const ledger = await open({ maxCachedTasks: 1 });
    const log = await ledger.create('ann', newTask('t'));
    for (let n = 0; n < 4; n++) log.append(chunk(log, `${n}`));
    log.append(status(log, 'completed'));
    await log.whenPersisted();
    await (await ledger.create('ann', newTask('other'))).whenPersisted();
    const again = await ledger.open('ann', 't');
    expect(again).not.toBe(log);
    for (let after = 1; after <= 6; after++) {
      const seen: (number | undefined)[] = [];
      for await (const event of again?.subscribe(after) ?? []) seen.push(event.sequence);
      expect(seen).toEqual([2, 3, 4, 5, 6].slice(after - 1));
    }
  });
});

describe('what is written', () => {
  it('does not grow with the task', async () => {
    const ledger = await open();
    const log = await ledger.create('ann', newTask('t'));
    const text = 'x'.repeat(200);
    for (let n = 0; n < 2_000; n++) {
      log.append(chunk(log, text));
      await log.whenPersisted();
    }
    const database = await openDatabase(file);
    const rows = database.prepare('select count(*) as n, sum(length(body)) as size from texts').get([]);
    const place = database.prepare('select sequence, snapshot_at from tasks').get([]);
    database.close();
    // The snapshot, and each change once.
    expect(rows?.['n']).toBe(2_001);
    expect(Number(rows?.['size'])).toBeLessThan(2_000 * 600);
    expect(place?.['sequence']).toBe(2_001);
    expect(Number(place?.['snapshot_at'])).toBeGreaterThan(500);
    expect(Number(place?.['snapshot_at'])).toBeLessThan(2_001);
  });

  it('becomes visible for all tasks of a turn at once', async () => {
    const ledger = await open();
    const one = await ledger.create('ann', newTask('one'));
    const two = await ledger.create('ann', newTask('two'));
    expect((await ledger.list('ann', {})).tasks).toEqual([]);
    await one.whenPersisted();
    expect(two.whenPersisted()).toBeUndefined();
    expect((await ledger.list('ann', {})).totalSize).toBe(2);
  });
});
