import { describe, expect, it } from 'vitest';
import type { Bench } from '../task-store.ts';
import { given, newTask, owner, status } from './actions.ts';

export function describeUpkeep(bench: Bench): void {
  describe('push configurations', () => {
    it('puts, replaces, lists and deletes them', async () => {
      const { ledger } = bench;
      await given(ledger, 't');
      const first = { taskId: 't', id: 'p1', url: 'https://example.com/1', token: 'x' };
      const second = { taskId: 't', id: 'p2', url: 'https://example.com/2', version: '0.3' };
      await ledger.putPushConfig(owner, first);
      await ledger.putPushConfig(owner, second);
      expect(await ledger.listPushConfigs(owner, 't')).toEqual([first, second]);
      const changed = { ...second, authentication: { scheme: 'Bearer', credentials: 'y' } };
      await ledger.putPushConfig(owner, changed);
      expect(await ledger.listPushConfigs(owner, 't')).toEqual([first, changed]);
      await ledger.deletePushConfig(owner, 't', 'p1');
      expect(await ledger.listPushConfigs(owner, 't')).toEqual([changed]);
      await ledger.deletePushConfig(owner, 't', 'p1');
      await ledger.deletePushConfig(owner, 'nothing', 'p1');
    });

    it('takes one for a task that is not stored yet', async () => {
      await bench.ledger.create(owner, newTask('t'));
      await bench.ledger.putPushConfig(owner, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await bench.ledger.listPushConfigs(owner, 't')).toHaveLength(1);
    });

    it('takes none for a task that does not exist', async () => {
      const put = async () =>
        bench.ledger.putPushConfig(owner, { taskId: 'nothing', id: 'p', url: 'https://example.com' });
      await expect(put()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(await bench.ledger.listPushConfigs(owner, 'nothing')).toEqual([]);
    });
  });

  describe('upkeep', () => {
    it('names the tasks that were submitted or working', async () => {
      await given(bench.ledger, 'a');
      await given(bench.ledger, 'b', ['working']);
      await given(bench.ledger, 'c', ['working', 'input-required']);
      await given(bench.ledger, 'd', ['completed']);
      await given(bench.ledger, 'a', ['working'], {}, 'bob');
      const unfinished = await bench.ledger.listUnfinished();
      expect([...unfinished].sort((a, b) => `${a.owner}${a.id}`.localeCompare(`${b.owner}${b.id}`))).toEqual([
        { owner, id: 'a' },
        { owner, id: 'b' },
        { owner: 'bob', id: 'a' },
      ]);
    });

    it('forgets finished tasks that are older, and nothing else', async () => {
      const { ledger } = bench;
      const old = await ledger.create(owner, newTask('old', { contextId: 'c' }), 'm');
      old.append(status(old, 'completed'));
      await old.whenPersisted();
      await ledger.putPushConfig(owner, { taskId: 'old', id: 'p', url: 'https://example.com' });
      await given(ledger, 'running', ['working'], { contextId: 'c' });
      await given(ledger, 'theirs', ['failed'], {}, 'bob');
      bench.now += 1_000;
      const moment = new Date(bench.now);
      await given(ledger, 'young', ['completed'], { contextId: 'c' });

      expect(await ledger.expire(moment)).toBe(2);
      expect(await ledger.expire(moment)).toBe(0);
      expect(await ledger.open(owner, 'old')).toBeUndefined();
      expect(await ledger.open('bob', 'theirs')).toBeUndefined();
      expect(await ledger.findByMessageId(owner, 'm')).toBeUndefined();
      expect(await ledger.listPushConfigs(owner, 'old')).toEqual([]);
      const page = await ledger.list(owner, { contextId: 'c' });
      expect(page.tasks.map(({ id }) => id)).toEqual(['young', 'running']);
      expect((await ledger.list(owner, {})).totalSize).toBe(2);
      expect((await ledger.list(owner, { status: 'completed' })).totalSize).toBe(1);
    });

    it('lets the id and the message of a forgotten task be used again', async () => {
      const { ledger } = bench;
      const old = await ledger.create(owner, newTask('t'), 'm');
      old.append(status(old, 'completed'));
      await old.whenPersisted();
      bench.now += 1_000;
      expect(await ledger.expire(new Date(bench.now))).toBe(1);
      const log = await ledger.create(owner, newTask('t'), 'm');
      await log.whenPersisted();
      expect(log.sequence).toBe(1);
      expect(await ledger.findByMessageId(owner, 'm')).toBe('t');
      expect((await ledger.open(owner, 't'))?.state).toBe('submitted');
    });

    it('forgets more tasks than fit in one go', async () => {
      const logs = await Promise.all(
        Array.from({ length: 1_201 }, async (_, n) => bench.ledger.create(owner, newTask(`t${n}`))),
      );
      for (const log of logs) log.append(status(log, 'completed'));
      for (const log of logs) await log.whenPersisted();
      expect(await bench.ledger.expire(new Date(bench.now + 1))).toBe(1_201);
      expect((await bench.ledger.list(owner, {})).totalSize).toBe(0);
    });
  });
}
