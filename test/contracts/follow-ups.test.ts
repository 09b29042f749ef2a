import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FollowUp,
  type FollowUpStore,
  memoryFollowUpStore,
} from '../../src/bridge/follow-ups/follow-up-store.ts';
import { sqliteFollowUpStore } from '../../src/bridge/follow-ups/sqlite-follow-up-store.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

interface Opening {
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

function describeFollowUps(name: string, open: (options: Opening) => Promise<FollowUpStore>): void {
  describe(`follow-ups in ${name}`, () => {
    let now = 1_000_000;
    let kept: FollowUpStore;
    beforeEach(async () => {
      kept = await open({ clock: { now: () => now }, max: 3 });
    });
    afterEach(() => kept.close?.());

    it('are there once', async () => {
      await kept.put('k', question, 1_000);
      expect(await kept.take('k', alice)).toEqual(question);
      expect(await kept.take('k', alice)).toBeUndefined();
    });

    it('can be given back', async () => {
      await kept.put('k', question, 1_000);
      await kept.put('k', { ...question, taskId: 't2' }, 1_000);
      expect((await kept.take('k', alice))?.taskId).toBe('t2');
      await kept.put('k', question, 1_000);
      expect((await kept.take('k', alice))?.taskId).toBe('t');
    });

    it('are gone when their time is up', async () => {
      await kept.put('k', question, 1_000);
      now += 999;
      expect(await kept.take('k', alice)).toBeDefined();
      await kept.put('k', question, 1_000);
      now += 1_000;
      expect(await kept.take('k', alice)).toBeUndefined();
    });

    it('are for the user and the session that got them, and stay there for these', async () => {
      await kept.put('k', question, 1_000);
      for (const other of [
        { ...alice, userId: 'bob' },
        { ...alice, sessionId: 'x' },
        { userId: 'alice', sessionId: undefined },
      ])
        expect(await kept.take('k', other)).toBeUndefined();
      expect(await kept.take('k', alice)).toEqual(question);
    });

    it('are for every session of the user when they began in none', async () => {
      const free = { ...question, sessionId: undefined };
      await kept.put('k', free, 1_000);
      expect(await kept.take('k', alice)).toEqual(free);
    });

    it('give way when there are too many, the oldest first', async () => {
      for (const key of ['1', '2', '3', '4']) await kept.put(key, question, 1_000);
      expect(await kept.take('1', alice)).toBeUndefined();
      expect(await kept.take('2', alice)).toBeDefined();
      expect(await kept.take('4', alice)).toBeDefined();
    });
  });
}

describeFollowUps('memory', async (options) => memoryFollowUpStore(options));
describeFollowUps('SQLite', (options) => sqliteFollowUpStore({ ...options, file: newFile() }));

describe('follow-ups in a file', () => {
  it('are there after a restart, also in the file of a ledger', async () => {
    const file = newFile();
    const ledger = await sqliteTaskStore({ file });
    const before = await sqliteFollowUpStore({ file });
    await before.put('k', question, 60_000);
    await before.close?.();
    await ledger[Symbol.asyncDispose]();
    const again = await sqliteTaskStore({ file });
    const after = await sqliteFollowUpStore({ file });
    expect(await after.take('k', alice)).toEqual(question);
    await after.close?.();
    await again[Symbol.asyncDispose]();
  });

  it('are taken by one of two that share the file', async () => {
    const file = newFile();
    const [one, two] = [await sqliteFollowUpStore({ file }), await sqliteFollowUpStore({ file })];
    await one.put('k', question, 60_000);
    const taken = [await two.take('k', alice), await one.take('k', alice)];
    expect(taken.filter(Boolean)).toHaveLength(1);
    await one.close?.();
    await two.close?.();
  });
});
