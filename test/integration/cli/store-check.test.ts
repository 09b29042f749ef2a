import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { createTask } from '../../contracts/task-store/actions.ts';
import { runDragoman } from '../../support/cli/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-store-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('store check reports damaged rows with exit code 1, and --repair moves them', async () => {
  const file = join(folder, 'tasks.db');
  const taskStore = await sqliteTaskStore({ file });
  await createTask(taskStore, 't', ['completed']);
  await taskStore[Symbol.asyncDispose]();
  const check = (...flags: string[]) => runDragoman(['store', 'check', file, ...flags]).ended;
  expect(await check()).toMatchObject({ code: 0, stdout: `${file}: no damage in 3 rows\n` });

  const database = await openDatabase(file);
  database.exec(`update task_events set body = cast(x'ff' as text) `);
  database.close();
  expect(await check()).toMatchObject({
    code: 1,
    stdout: `task_events 1:2: body is not UTF-8\n${file}: 1 damaged of 3 rows. Run again with --repair to move them.\n`,
  });
  const json = await check('--repair', '-o', 'json');
  expect(json.code).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({ damaged: [{ table: 'task_events' }], isRepaired: true });
  expect(await check()).toMatchObject({ code: 0 });
});

it('store check rejects a missing file with exit code 2 and does not create it', async () => {
  const { code, stderr } = await runDragoman(['store', 'check', join(folder, 'missing.db')]).ended;
  expect(code).toBe(2);
  expect(stderr).toContain('File not found');
});
