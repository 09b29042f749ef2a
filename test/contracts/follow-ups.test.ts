import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FollowUp,
  type FollowUpStore,
  memoryFollowUpStore,
} from '../../src/bridge/follow-ups/follow-up-store.ts';
import { postgresFollowUpStore } from '../../src/bridge/follow-ups/postgres-follow-up-store.ts';
import { sqliteFollowUpStore } from '../../src/bridge/follow-ups/sqlite-follow-up-store.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

interface StoreOptions {
  readonly clock: { now(): number };
  readonly max: number;
}

const question: FollowUp = {
  agentName: 'a',
  taskId: 't',
  contextId: 'c',
  action: 'a/s',
  kind: 'input',
  userId: 'alice',
  sessionId: 's',
};
const alice = { userId: 'alice', sessionId: 's' };

function describeFollowUps(name: string, open: (options: StoreOptions) => Promise<FollowUpStore>): void {
  describe(`FollowUpStore contract: ${name}`, () => {
    let now = 1_000_000;
    let store: FollowUpStore;
    beforeEach(async () => {
      store = await open({ clock: { now: () => now }, max: 3 });
    });
    afterEach(() => store.close?.());

    it('returns a follow-up only once', async () => {
      await store.put('k', question, 1_000);
      expect(await store.take('k', alice)).toEqual(question);
      expect(await store.take('k', alice)).toBeUndefined();
    });

    it('replaces a follow-up and accepts it again', async () => {
      await store.put('k', question, 1_000);
      await store.put('k', { ...question, taskId: 't2' }, 1_000);
      expect((await store.take('k', alice))?.taskId).toBe('t2');
      await store.put('k', question, 1_000);
      expect((await store.take('k', alice))?.taskId).toBe('t');
    });

    it('expires a follow-up after its ttl', async () => {
      await store.put('k', question, 1_000);
      now += 999;
      expect(await store.take('k', alice)).toBeDefined();
      await store.put('k', question, 1_000);
      now += 1_000;
      expect(await store.take('k', alice)).toBeUndefined();
    });

    it('returns a follow-up only to its user and session', async () => {
      await store.put('k', question, 1_000);
      for (const other of [
        { ...alice, userId: 'bob' },
        { ...alice, sessionId: 'x' },
        { userId: 'alice', sessionId: undefined },
      ])
        expect(await store.take('k', other)).toBeUndefined();
      expect(await store.take('k', alice)).toEqual(question);
    });

    it('returns a follow-up without session to every session of the user', async () => {
      const withoutSession = { ...question, sessionId: undefined };
      await store.put('k', withoutSession, 1_000);
      expect(await store.take('k', alice)).toEqual(withoutSession);
    });

    it('evicts the oldest follow-ups beyond max', async () => {
      for (const key of ['1', '2', '3', '4']) await store.put(key, question, 1_000);
      expect(await store.take('1', alice)).toBeUndefined();
      expect(await store.take('2', alice)).toBeDefined();
      expect(await store.take('4', alice)).toBeDefined();
    });
  });
}

describeFollowUps('memory', async (options) => memoryFollowUpStore(options));
const postgres = usePostgres();
let schemas = 0;
if (hasPostgres)
  describeFollowUps('PostgreSQL', (options) =>
    postgresFollowUpStore({ ...options, url: postgres().url, schema: `f${schemas++}` }),
  );
describeFollowUps('SQLite', (options) => sqliteFollowUpStore({ ...options, file: newFile() }));

describe('sqliteFollowUpStore', () => {
  it('survives a restart in the file of a task store', async () => {
    const file = newFile();
    const taskStore = await sqliteTaskStore({ file });
    const before = await sqliteFollowUpStore({ file });
    await before.put('k', question, 60_000);
    await before.close?.();
    await taskStore[Symbol.asyncDispose]();
    const reopened = await sqliteTaskStore({ file });
    const after = await sqliteFollowUpStore({ file });
    expect(await after.take('k', alice)).toEqual(question);
    await after.close?.();
    await reopened[Symbol.asyncDispose]();
  });

  it('returns a follow-up to only one of two stores on the same file', async () => {
    const file = newFile();
    const [one, two] = [await sqliteFollowUpStore({ file }), await sqliteFollowUpStore({ file })];
    await one.put('k', question, 60_000);
    const taken = [await two.take('k', alice), await one.take('k', alice)];
    expect(taken.filter(Boolean)).toHaveLength(1);
    await one.close?.();
    await two.close?.();
  });
});

describe.skipIf(!hasPostgres)('postgresFollowUpStore', () => {
  it('returns a follow-up to only one of two stores, by the clock of the database', async () => {
    const options = { url: postgres().url, schema: 'shared_follow_ups' };
    const stores = [await postgresFollowUpStore(options), await postgresFollowUpStore(options)];
    await stores[0]?.put('k', question, 60_000);
    const taken = await Promise.all(stores.map(async (each) => each.take('k', alice)));
    expect(taken.filter(Boolean)).toEqual([question]);
    for (const each of stores) await each.close?.();
  });
});
