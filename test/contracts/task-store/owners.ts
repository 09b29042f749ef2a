import { describe, expect, it } from 'vitest';
import type { ContractFixture } from '../task-store.ts';
import { createTask, newTask, owner, status } from './actions.ts';

const otherOwner = 'bob';

export function describeOwners(fixture: ContractFixture): void {
  describe('owners', () => {
    it('hide all entries from other owners', async () => {
      const { taskStore } = fixture;
      const log = await taskStore.create(owner, newTask('t', { contextId: 'c' }), 'm');
      await log.whenPersisted();
      await taskStore.putPushConfig(owner, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await taskStore.open(otherOwner, 't')).toBeUndefined();
      expect(await taskStore.findByKey(otherOwner, 'm')).toBeUndefined();
      for (const request of [{}, { contextId: 'c' }, { status: 'submitted' as const }]) {
        expect(await taskStore.list(otherOwner, request)).toMatchObject({
          tasks: [],
          totalSize: 0,
          nextPageToken: '',
        });
      }
      expect(await taskStore.listPushConfigs(otherOwner, 't')).toEqual([]);
      await taskStore.deletePushConfig(otherOwner, 't', 'p');
      expect(await taskStore.listPushConfigs(owner, 't')).toHaveLength(1);
      const put = async () =>
        taskStore.putPushConfig(otherOwner, { taskId: 't', id: 'q', url: 'https://example.org' });
      await expect(put()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });

    it('may use the same task, context and message ids', async () => {
      const { taskStore } = fixture;
      const mine = await taskStore.create(owner, newTask('t', { contextId: 'c' }), 'm');
      const theirs = await taskStore.create(otherOwner, newTask('t', { contextId: 'c' }), 'm');
      mine.append(status(mine, 'completed'));
      await mine.whenPersisted();
      await theirs.whenPersisted();
      expect((await taskStore.open(owner, 't'))?.state).toBe('completed');
      expect((await taskStore.open(otherOwner, 't'))?.state).toBe('submitted');
      expect((await taskStore.list(owner, { contextId: 'c' })).tasks[0]?.status.state).toBe('completed');
      expect((await taskStore.list(otherOwner, { contextId: 'c' })).tasks[0]?.status.state).toBe('submitted');
      await taskStore.putPushConfig(otherOwner, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await taskStore.listPushConfigs(owner, 't')).toEqual([]);
      expect(await taskStore.listUnfinished()).toEqual([{ owner: otherOwner, id: 't' }]);
    });

    it('are counted separately', async () => {
      for (let n = 0; n < 3; n++) await createTask(fixture.taskStore, `t${n}`, ['working']);
      await createTask(fixture.taskStore, 't0', ['working'], {}, otherOwner);
      expect((await fixture.taskStore.list(owner, { status: 'working' })).totalSize).toBe(3);
      expect((await fixture.taskStore.list(otherOwner, {})).totalSize).toBe(1);
    });

    it('are distinct even if owner and id concatenate to the same string', async () => {
      await createTask(fixture.taskStore, 'bc', ['working'], {}, 'a');
      await createTask(fixture.taskStore, 'c', ['failed'], {}, 'ab');
      expect((await fixture.taskStore.open('a', 'bc'))?.state).toBe('working');
      expect((await fixture.taskStore.open('ab', 'c'))?.state).toBe('failed');
      expect(await fixture.taskStore.open('abc', '')).toBeUndefined();
    });
  });
}
