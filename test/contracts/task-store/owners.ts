import { describe, expect, it } from 'vitest';
import type { Bench } from '../task-store.ts';
import { given, newTask, owner, status } from './actions.ts';

const stranger = 'bob';

export function describeOwners(bench: Bench): void {
  describe('owners', () => {
    it('hides everything of one owner from the other', async () => {
      const { ledger } = bench;
      const log = await ledger.create(owner, newTask('t', { contextId: 'c' }), 'm');
      await log.whenPersisted();
      await ledger.putPushConfig(owner, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await ledger.open(stranger, 't')).toBeUndefined();
      expect(await ledger.findByMessageId(stranger, 'm')).toBeUndefined();
      for (const request of [{}, { contextId: 'c' }, { status: 'submitted' as const }]) {
        expect(await ledger.list(stranger, request)).toMatchObject({
          tasks: [],
          totalSize: 0,
          nextPageToken: '',
        });
      }
      expect(await ledger.listPushConfigs(stranger, 't')).toEqual([]);
      await ledger.deletePushConfig(stranger, 't', 'p');
      expect(await ledger.listPushConfigs(owner, 't')).toHaveLength(1);
      const put = async () =>
        ledger.putPushConfig(stranger, { taskId: 't', id: 'q', url: 'https://example.org' });
      await expect(put()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });

    it('keeps tasks of two owners apart that have the same ids', async () => {
      const { ledger } = bench;
      const mine = await ledger.create(owner, newTask('t', { contextId: 'c' }), 'm');
      const theirs = await ledger.create(stranger, newTask('t', { contextId: 'c' }), 'm');
      mine.append(status(mine, 'completed'));
      await mine.whenPersisted();
      await theirs.whenPersisted();
      expect((await ledger.open(owner, 't'))?.state).toBe('completed');
      expect((await ledger.open(stranger, 't'))?.state).toBe('submitted');
      expect((await ledger.list(owner, { contextId: 'c' })).tasks[0]?.status.state).toBe('completed');
      expect((await ledger.list(stranger, { contextId: 'c' })).tasks[0]?.status.state).toBe('submitted');
      await ledger.putPushConfig(stranger, { taskId: 't', id: 'p', url: 'https://example.com' });
      expect(await ledger.listPushConfigs(owner, 't')).toEqual([]);
      expect(await ledger.listUnfinished()).toEqual([{ owner: stranger, id: 't' }]);
    });

    it('counts only the tasks of the owner who asks', async () => {
      for (let n = 0; n < 3; n++) await given(bench.ledger, `t${n}`, ['working']);
      await given(bench.ledger, 't0', ['working'], {}, stranger);
      expect((await bench.ledger.list(owner, { status: 'working' })).totalSize).toBe(3);
      expect((await bench.ledger.list(stranger, {})).totalSize).toBe(1);
    });

    it('tells owners and ids apart that read the same when joined', async () => {
      await given(bench.ledger, 'bc', ['working'], {}, 'a');
      await given(bench.ledger, 'c', ['failed'], {}, 'ab');
      expect((await bench.ledger.open('a', 'bc'))?.state).toBe('working');
      expect((await bench.ledger.open('ab', 'c'))?.state).toBe('failed');
      expect(await bench.ledger.open('abc', '')).toBeUndefined();
    });
  });
}
