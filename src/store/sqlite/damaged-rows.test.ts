import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTask, owner, status } from '../../../test/contracts/task-store/actions.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { sqliteTaskStore } from '../sqlite.ts';
import type { TaskStore } from '../task-store.ts';
import { checkSqliteFile } from './check-file.ts';
import { openDatabase } from './database.ts';

let folder: string;
let file: string;
let taskStore: TaskStore;
const damage: A2AError[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-damage-'));
  file = join(folder, 'tasks.db');
  damage.length = 0;
  taskStore = await sqliteTaskStore({ file });
  for (const id of ['a', 'b', 'c']) {
    const log = await createTask(taskStore, id, ['working']);
    // A second commit, so that the task has a snapshot.
    log.append(status(log, 'completed'));
    await log.whenPersisted();
  }
  await createTask(taskStore, 'running', ['working']);
  await taskStore.putPushConfig(owner, { taskId: 'b', id: 'p', url: 'https://example.com' });
  await taskStore[Symbol.asyncDispose]();
});

afterEach(async () => {
  await taskStore[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function damageFile(sql: string): Promise<void> {
  const database = await openDatabase(file);
  database.exec(sql);
  database.close();
  taskStore = await sqliteTaskStore({ file, onDamage: (error) => damage.push(error) });
}

const badText = `cast(x'7b22ff227d' as text)`;
const keyOfB = `(select key from tasks where id = 'b')`;

describe('a damaged row', () => {
  it.each([
    [
      'snapshot that is not UTF-8',
      `update task_events set body = ${badText} where task = ${keyOfB} and sequence = 0`,
    ],
    [
      'snapshot that is not JSON',
      `update task_events set body = '{' where task = ${keyOfB} and sequence = 0`,
    ],
    ['state', `update tasks set state = ${badText} where id = 'b'`],
    ['message id', `update tasks set message_id = ${badText} where id = 'b'`],
  ])('omits a damaged row (%s) from lists and reports it once', async (_what, sql) => {
    await damageFile(sql);
    for (let n = 0; n < 2; n++) {
      const { tasks } = await taskStore.list(owner, {});
      expect(tasks.map(({ id }) => id)).toEqual(['running', 'c', 'a']);
    }
    expect(damage).toMatchObject([
      { reason: 'INTERNAL_ERROR', hint: expect.stringContaining('store check') },
    ]);
    expect(() => taskStore.open(owner, 'b')).toThrow(expect.objectContaining({ reason: 'INTERNAL_ERROR' }));
    expect((await taskStore.open(owner, 'c'))?.state).toBe('completed');
    expect(await taskStore.listUnfinished()).toEqual([{ owner, id: 'running' }]);
  });

  it.each([
    ['UTF-8', badText],
    ['JSON', `'{'`],
  ])('omits a damaged task of one commit (not %s) from lists', async (_what, text) => {
    const once = await sqliteTaskStore({ file });
    await createTask(once, 'd', ['completed']);
    await once[Symbol.asyncDispose]();
    await damageFile(
      `update task_events set body = ${text} where task = (select key from tasks where id = 'd')`,
    );
    expect((await taskStore.list(owner, {})).tasks.map(({ id }) => id)).toEqual(['running', 'c', 'b', 'a']);
    expect(() => taskStore.open(owner, 'd')).toThrow(expect.objectContaining({ reason: 'INTERNAL_ERROR' }));
  });

  it('returns the next page after a page with a damaged row', async () => {
    await damageFile(`update tasks set state = ${badText} where id = 'b'`);
    const ids: string[] = [];
    let pageToken = '';
    do {
      const page = await taskStore.list(owner, { pageSize: 1, pageToken });
      ids.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(ids).toEqual(['running', 'c', 'a']);
  });

  it('fails the replay of a damaged event and keeps the task readable', async () => {
    await damageFile(`update task_events set body = ${badText} where task = ${keyOfB} and sequence > 0`);
    expect((await taskStore.list(owner, {})).tasks).toHaveLength(4);
    const log = await taskStore.open(owner, 'b');
    await expect(log?.subscribe(0).next()).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
  });

  it.each(['body', 'last_error'])('omits a damaged push configuration (%s)', async (column) => {
    await damageFile(`update push_configs set ${column} = ${badText}`);
    expect(await taskStore.listDeliveries()).toEqual([]);
    expect(damage).toHaveLength(1);
  });

  it('omits a damaged id of an unfinished task from the recovery', async () => {
    await damageFile(`update tasks set id = ${badText} where id = 'running'`);
    expect(await taskStore.listUnfinished()).toEqual([]);
    expect(await taskStore.expire(new Date(Date.now() + 8 * 24 * 3_600_000))).toBe(3);
  });
});

describe('checkSqliteFile', () => {
  it('finds no damage in an intact file', async () => {
    expect(await checkSqliteFile(file)).toMatchObject({ damaged: [], structure: [], isRepaired: false });
  });

  it('names damaged rows and moves them, so that all others are listed and counted', async () => {
    await damageFile(`
      update task_events set body = ${badText} where task = ${keyOfB} and sequence = 0;
      update tasks set state = ${badText} where id = 'c';
    `);
    await expect(checkSqliteFile(file, true)).rejects.toMatchObject({ reason: 'CONFLICT' });
    await taskStore[Symbol.asyncDispose]();
    const damaged = [
      { table: 'tasks', problem: 'state is not UTF-8' },
      { table: 'task_events', problem: 'body is not UTF-8' },
    ];
    expect(await checkSqliteFile(file)).toMatchObject({ damaged, isRepaired: false });
    expect(await checkSqliteFile(file, true)).toMatchObject({ damaged, isRepaired: true });
    expect(await checkSqliteFile(file)).toMatchObject({ damaged: [] });
    taskStore = await sqliteTaskStore({ file });
    const page = await taskStore.list(owner, {});
    expect(page.tasks.map(({ id }) => id)).toEqual(['running', 'a']);
    expect(page.totalSize).toBe(2);
    const database = await openDatabase(file);
    expect(database.prepare('select count(*) as n from quarantined_tasks').get([])).toMatchObject({ n: 2 });
    expect(database.prepare('select count(*) as n from quarantined_push_configs').get([])).toMatchObject({
      n: 1,
    });
    database.close();
  });
});
