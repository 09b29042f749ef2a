/** Another process holds the write lock of a file for a short time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FollowUp } from '../../../src/bridge/follow-ups/follow-up-store.ts';
import { sqliteFollowUpStore } from '../../../src/bridge/follow-ups/sqlite-follow-up-store.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { sqliteOwnershipRegister } from '../../../src/gateway/ownership/sqlite-ownership-register.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { type Database, openDatabase } from '../../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { callRpc, httpGet } from '../../support/http/http-calls.ts';

let folder: string;
let file: string;
let other: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-lock-'));
  file = join(folder, 'tasks.db');
  other = await openDatabase(file);
});

afterEach(() => {
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

const message = (text: string) => ({ messageId: text, role: 'ROLE_USER', parts: [{ text }] });

it('delays sends of new and known owners while the server answers other requests', async () => {
  await using taskStore = await sqliteTaskStore({ file });
  const agent = defineAgent(
    { name: 'Echo', description: 'Repeats', process: ({ text }) => text },
    { taskStore },
  );
  const server = await serve(agent);
  const send = (text: string) => callRpc(server.url, 'SendMessage', { message: message(text) }, '1.0');
  try {
    // The first task of the owner needs a row of its own for the owner.
    for (const text of ['first', 'second']) {
      other.exec('begin immediate');
      let isAnswered = false;
      const sent = send(text).finally(() => (isAnswered = true));
      for (let n = 0; n < 5; n++) expect((await httpGet(`${server.url}/healthz`)).status).toBe(200);
      expect((await httpGet(`${server.url}/readyz`)).status).toBe(200);
      expect(isAnswered).toBe(false);
      other.exec('rollback');
      expect((await sent).result.task.status.state).toBe('TASK_STATE_COMPLETED');
    }
  } finally {
    await server.stop(0);
    await agent.close();
  }
});

it('stores pending changes of a task store that is closed meanwhile', async () => {
  const taskStore = await sqliteTaskStore({ file });
  const log = await taskStore.create('ann', { id: 't', contextId: 'c', status: { state: 'submitted' } });
  await log.whenPersisted();
  other.exec('begin immediate');
  log.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'completed' } });
  const closed = taskStore[Symbol.asyncDispose]();
  await new Promise(setImmediate);
  other.exec('rollback');
  await closed;
  expect(other.prepare('select state from tasks').get([])).toMatchObject({ state: 'completed' });
});

it('delays push configurations and deletions of a task store', async () => {
  await using taskStore = await sqliteTaskStore({ file });
  const log = await taskStore.create('ann', { id: 't', contextId: 'c', status: { state: 'completed' } });
  await log.whenPersisted();
  const config = { taskId: 't', id: 'p', url: 'https://example.com' };
  const whileLocked = async (write: () => unknown): Promise<unknown> => {
    other.exec('begin immediate');
    const result = Promise.resolve(write());
    await new Promise(setImmediate);
    other.exec('rollback');
    return result;
  };
  await whileLocked(() => taskStore.putPushConfig('ann', config));
  expect(await taskStore.listPushConfigs('ann', 't')).toHaveLength(1);
  await whileLocked(() => taskStore.deletePushConfig('ann', 't', 'p'));
  expect(await taskStore.listPushConfigs('ann', 't')).toHaveLength(0);
  expect(await whileLocked(() => taskStore.expire(new Date(Date.now() + 60_000)))).toBe(1);
});

it('delays a claim of the ownership register of a gateway', async () => {
  const register = await sqliteOwnershipRegister({ file });
  other.exec('begin immediate');
  const owner = register.claimTask('weather', 'ann', { taskId: 't', contextId: 'c' });
  expect(owner).toBeInstanceOf(Promise);
  expect(await register.taskOwner('weather', 't')).toBeUndefined();
  other.exec('rollback');
  expect(await owner).toBe('ann');
  expect(await register.claimTask('weather', 'bob', { taskId: 't', contextId: 'c' })).toBe('ann');
  await register.close?.();
});

it('delays a follow-up of a bridge', async () => {
  const store = await sqliteFollowUpStore({ file });
  const followUp = { agentName: 'weather', taskId: 't' } as unknown as FollowUp;
  other.exec('begin immediate');
  const stored = store.put('key', followUp, 60_000);
  expect(stored).toBeInstanceOf(Promise);
  other.exec('rollback');
  await stored;
  expect(other.prepare('select count(*) as n from follow_ups').get([])).toMatchObject({ n: 1 });
  await store.close?.();
});
