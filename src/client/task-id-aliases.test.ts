import { describe, expect, it } from 'vitest';
import { type TaskIdAlias, TaskIdAliases } from './task-id-aliases.ts';

async function assign(aliases: TaskIdAliases, clientTaskId: string, taskId: string): Promise<void> {
  const claim = await aliases.claim('me', clientTaskId);
  if (!claim.known) await claim.assign(taskId, 'c');
}

describe('TaskIdAliases', () => {
  it('returns an assigned alias to its owner only', async () => {
    const aliases = new TaskIdAliases();
    expect(aliases.find('me', 'mine')).toBeUndefined();
    await assign(aliases, 'mine', 't1');
    expect(aliases.find('me', 'mine')).toMatchObject({ taskId: 't1' });
    expect(aliases.find('you', 'mine')).toBeUndefined();
    expect(await aliases.claim('me', 'mine')).toMatchObject({ known: { taskId: 't1' } });
  });

  it('returns an alias of the store after the client that assigned it is gone', async () => {
    const stored = new Map<string, TaskIdAlias>();
    const store = {
      get: (key: string) => stored.get(key),
      set: (key: string, alias: TaskIdAlias) => void stored.set(key, alias),
    };
    await assign(new TaskIdAliases(10, store), 'mine', 't1');
    const later = new TaskIdAliases(10, store);
    expect(await later.find('me', 'mine')).toMatchObject({ taskId: 't1' });
    expect(await later.find('you', 'mine')).toBeUndefined();
    expect(await new TaskIdAliases(10, store).claim('me', 'mine')).toMatchObject({ known: { taskId: 't1' } });
  });

  it('finds the alias of a task id of the agent for its owner, also in the store', async () => {
    const stored = new Map<string, TaskIdAlias>();
    const store = {
      get: (key: string) => stored.get(key),
      set: (key: string, alias: TaskIdAlias) => void stored.set(key, alias),
    };
    const aliases = new TaskIdAliases(10, store);
    await assign(aliases, 'mine', 't1');
    for (const each of [aliases, new TaskIdAliases(10, store)]) {
      expect(await each.findByTaskId('me', 't1')).toMatchObject({ clientTaskId: 'mine' });
      expect(await each.findByTaskId('you', 't1')).toBeUndefined();
      expect(await each.findByTaskId('me', 'mine')).toBeUndefined();
    }
  });

  it('grants a pending claim after the first one is released', async () => {
    const aliases = new TaskIdAliases();
    const first = await aliases.claim('me', 'mine');
    const second = aliases.claim('me', 'mine');
    if (!first.known) first.release();
    expect((await second).known).toBeUndefined();
  });

  it('evicts the oldest alias beyond the maximum', async () => {
    const aliases = new TaskIdAliases(2);
    for (const name of ['a', 'b', 'c']) await assign(aliases, name, `t-${name}`);
    const found = await Promise.all(['a', 'b', 'c'].map(async (name) => aliases.find('me', name)));
    expect(found.map((alias) => alias?.taskId)).toEqual([undefined, 't-b', 't-c']);
  });
});
