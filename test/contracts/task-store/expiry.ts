import { describe, expect, it } from 'vitest';
import type { ContractFixture } from '../task-store.ts';
import { createTask, newTask, owner, status } from './actions.ts';

export function describeExpiry(fixture: ContractFixture): void {
  describe('push configurations', () => {
    it('are created, replaced, listed and deleted', async () => {
      const { taskStore } = fixture;
      await createTask(taskStore, 't');
      const first = { taskId: 't', id: 'p1', url: 'https://example.com/1', token: 'x' };
      const second = { taskId: 't', id: 'p2', url: 'https://example.com/2', version: '0.3' };
      await taskStore.putPushConfig(owner, first);
      await taskStore.putPushConfig(owner, second);
      expect(await taskStore.listPushConfigs(owner, 't')).toEqual([first, second]);
      const changed = { ...second, authentication: { scheme: 'Bearer', credentials: 'y' } };
      await taskStore.putPushConfig(owner, changed);
      expect(await taskStore.listPushConfigs(owner, 't')).toEqual([first, changed]);
      await taskStore.deletePushConfig(owner, 't', 'p1');
      expect(await taskStore.listPushConfigs(owner, 't')).toEqual([changed]);
      await taskStore.deletePushConfig(owner, 't', 'p1');
      await taskStore.deletePushConfig(owner, 'nothing', 'p1');
    });

    it('are accepted for a task that is not persisted yet', async () => {
      await fixture.taskStore.create(owner, newTask('t'));
      await fixture.taskStore.putPushConfig(owner, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await fixture.taskStore.listPushConfigs(owner, 't')).toHaveLength(1);
    });

    it('are rejected with TASK_NOT_FOUND for an unknown task', async () => {
      const put = async () =>
        fixture.taskStore.putPushConfig(owner, { taskId: 'nothing', id: 'p', url: 'https://example.com' });
      await expect(put()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(await fixture.taskStore.listPushConfigs(owner, 'nothing')).toEqual([]);
    });
  });

  describe('recovery and expiry', () => {
    it('lists submitted and working tasks as unfinished', async () => {
      await createTask(fixture.taskStore, 'a');
      await createTask(fixture.taskStore, 'b', ['working']);
      await createTask(fixture.taskStore, 'c', ['working', 'input-required']);
      await createTask(fixture.taskStore, 'd', ['completed']);
      await createTask(fixture.taskStore, 'a', ['working'], {}, 'bob');
      const unfinished = await fixture.taskStore.listUnfinished();
      expect([...unfinished].sort((a, b) => `${a.owner}${a.id}`.localeCompare(`${b.owner}${b.id}`))).toEqual([
        { owner, id: 'a' },
        { owner, id: 'b' },
        { owner: 'bob', id: 'a' },
      ]);
    });

    it('deletes only finished tasks older than the given time', async () => {
      const { taskStore } = fixture;
      const old = await taskStore.create(owner, newTask('old', { contextId: 'c' }), 'm');
      old.append(status(old, 'completed'));
      await old.whenPersisted();
      await taskStore.putPushConfig(owner, { taskId: 'old', id: 'p', url: 'https://example.com' });
      await taskStore.putDelivery(owner, 'old', 'p', { delivered: 2, attempts: 0 });
      await createTask(taskStore, 'running', ['working'], { contextId: 'c' });
      await createTask(taskStore, 'theirs', ['failed'], {}, 'bob');
      fixture.now += 1_000;
      const before = new Date(fixture.now);
      await createTask(taskStore, 'young', ['completed'], { contextId: 'c' });

      expect(await taskStore.expire(before)).toBe(2);
      expect(await taskStore.expire(before)).toBe(0);
      expect(await taskStore.open(owner, 'old')).toBeUndefined();
      expect(await taskStore.open('bob', 'theirs')).toBeUndefined();
      expect(await taskStore.findByKey(owner, 'm')).toBeUndefined();
      expect(await taskStore.listPushConfigs(owner, 'old')).toEqual([]);
      const page = await taskStore.list(owner, { contextId: 'c' });
      expect(page.tasks.map(({ id }) => id)).toEqual(['young', 'running']);
      expect((await taskStore.list(owner, {})).totalSize).toBe(2);
      expect((await taskStore.list(owner, { status: 'completed' })).totalSize).toBe(1);
    });

    it('keeps a task with undelivered notifications for 7 more days', async () => {
      const { taskStore } = fixture;
      for (const id of ['delivered', 'pending', 'dead', 'plain'])
        await createTask(taskStore, id, ['completed']);
      const url = 'https://example.com';
      for (const taskId of ['delivered', 'pending', 'dead'])
        await taskStore.putPushConfig(owner, { taskId, id: 'p', url });
      await taskStore.putDelivery(owner, 'delivered', 'p', { delivered: 2, attempts: 0 });
      await taskStore.putDelivery(owner, 'dead', 'p', { delivered: 1, attempts: 3, deadSince: 'x' });
      const left = async (): Promise<string[]> => (await taskStore.list(owner, {})).tasks.map(({ id }) => id);

      fixture.now += 1_000;
      expect(await taskStore.expire(new Date(fixture.now))).toBe(2);
      expect(await left()).toEqual(['dead', 'pending']);
      await taskStore.putDelivery(owner, 'pending', 'p', { delivered: 2, attempts: 0 });
      expect(await taskStore.expire(new Date(fixture.now))).toBe(1);
      expect(await taskStore.expire(new Date(fixture.now + 6 * 24 * 3_600_000))).toBe(0);
      expect(await left()).toEqual(['dead']);
      expect(await taskStore.expire(new Date(fixture.now + 7 * 24 * 3_600_000))).toBe(1);
      expect(await left()).toEqual([]);
    });

    it('allows to reuse the task id and message id of an expired task', async () => {
      const { taskStore } = fixture;
      const old = await taskStore.create(owner, newTask('t'), 'm');
      old.append(status(old, 'completed'));
      await old.whenPersisted();
      fixture.now += 1_000;
      expect(await taskStore.expire(new Date(fixture.now))).toBe(1);
      const log = await taskStore.create(owner, newTask('t'), 'm');
      await log.whenPersisted();
      expect(log.sequence).toBe(1);
      expect(await taskStore.findByKey(owner, 'm')).toBe('t');
      expect((await taskStore.open(owner, 't'))?.state).toBe('submitted');
    });

    it('deletes more tasks than one batch holds', async () => {
      const logs = await Promise.all(
        Array.from({ length: 1_201 }, async (_, n) => fixture.taskStore.create(owner, newTask(`t${n}`))),
      );
      for (const log of logs) log.append(status(log, 'completed'));
      for (const log of logs) await log.whenPersisted();
      expect(await fixture.taskStore.expire(new Date(fixture.now + 1))).toBe(1_201);
      expect((await fixture.taskStore.list(owner, {})).totalSize).toBe(0);
    });
  });
}
