import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDeferred, expectTask, userRequest } from '../../../test/support/engine/conversation.ts';
import { waitUntilTrue } from '../../../test/support/push/test-webhook.ts';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import { postgresTaskStore } from '../../store/postgres.ts';
import { openDatabase } from '../../store/sqlite/database.ts';
import { sqliteTaskStore } from '../../store/sqlite.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { defineAgent } from '../local-agent.ts';

/** A text that no database of these tests stores. */
const rejected = 'rejected by the database';

/** Opens a file that rejects some events. */
async function openSqlite(shared: boolean): Promise<TaskStore> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-fail-task-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'tasks.db');
  const taskStore = await sqliteTaskStore({ file, shared });
  const database = await openDatabase(file);
  database.exec(`create trigger reject before insert on task_events when new.body like '%${rejected}%'
    begin select raise(abort, 'not accepted'); end`);
  database.close();
  return taskStore;
}

/** Expects that a task fails if one of its events cannot be stored, and that the agent goes on. */
async function expectFailedTask(taskStore: TaskStore): Promise<void> {
  onTestFinished(() => taskStore[Symbol.asyncDispose]());
  const isStored = createDeferred();
  const agent = defineAgent(
    {
      name: 'T',
      description: 'T',
      process: async ({ text }) => {
        if (text !== 'reject') return text;
        await isStored.promise;
        return rejected;
      },
    },
    { taskStore, log: () => {} },
  );
  onTestFinished(() => agent.close());
  await agent.ready();
  const request = { ...userRequest('reject'), configuration: { returnImmediately: true } };
  const { id } = expectTask(await agent.send(request));
  isStored.resolve();
  await waitUntilTrue(async () => (await agent.getTask({ id })).status.state === 'failed');
  expect((await agent.getTask({ id })).status.message?.parts).toEqual([
    { text: 'The agent could not finish this task.' },
  ]);
  expect(expectTask(await agent.send(userRequest('stored'))).status.state).toBe('completed');
}

describe('a task whose events cannot be stored fails', () => {
  it('in SQLite', async () => expectFailedTask(await openSqlite(false)));

  it('in a SQLite file that processes share', async () => expectFailedTask(await openSqlite(true)));

  describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
    const server = usePostgres();

    it('that replicas share', async () => {
      const { url } = server();
      const taskStore = await postgresTaskStore({ url, schema: 'rejecting' });
      const pool = new Pool({ connectionString: url });
      await pool.query(`create function rejecting.reject() returns trigger language plpgsql as
          $$ begin raise exception 'not accepted'; end $$;
        create trigger reject before insert on rejecting.events for each row
          when (new.body like '%${rejected}%') execute function rejecting.reject()`);
      await pool.end();
      await expectFailedTask(taskStore);
    });
  });
});
