import { beforeEach, describe, expect, it } from 'vitest';
import type { ListTasksRequest } from '../../../src/protocol/requests.ts';
import type { ContractFixture } from '../task-store.ts';
import { chunk, createTask, message, openToChange, owner, status } from './actions.ts';

export function describeListing(fixture: ContractFixture): void {
  const list = async (request: ListTasksRequest) => fixture.taskStore.list(owner, request);
  const ids = async (request: ListTasksRequest) => (await list(request)).tasks.map(({ id }) => id);

  describe('list', () => {
    beforeEach(async () => {
      await createTask(fixture.taskStore, 'a', ['working', 'completed'], { contextId: 'c1' });
      fixture.now += 1_000;
      await createTask(fixture.taskStore, 'b', ['working'], { contextId: 'c1' });
      fixture.now += 1_000;
      await createTask(fixture.taskStore, 'c', ['working'], { contextId: 'c2' });
      fixture.now += 1_000;
      await createTask(fixture.taskStore, 'd', ['failed'], { contextId: 'c1' });
    });

    it('returns the newest status first', async () => {
      expect(await ids({})).toEqual(['d', 'c', 'b', 'a']);
      const log = await openToChange(fixture.taskStore, 'b');
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      expect(await ids({})).toEqual(['b', 'd', 'c', 'a']);
    });

    it('keeps the position of a task after artifacts and input messages', async () => {
      const log = await openToChange(fixture.taskStore, 'b');
      log.append(chunk(log, 'x', false));
      log.append({ kind: 'input', message: message('m') });
      await log.whenPersisted();
      expect(await ids({})).toEqual(['d', 'c', 'b', 'a']);
      expect((await list({ includeArtifacts: true })).tasks[2]?.artifacts).toHaveLength(1);
    });

    it.each<[string, ListTasksRequest, string[]]>([
      ['a context', { contextId: 'c1' }, ['d', 'b', 'a']],
      ['a state', { status: 'working' }, ['c', 'b']],
      ['a context and a state', { contextId: 'c1', status: 'working' }, ['b']],
      ['a timestamp, inclusive', { statusTimestampAfter: '2026-06-01T10:00:02.000Z' }, ['d', 'c']],
      ['a timestamp in another zone', { statusTimestampAfter: '2026-06-01T12:00:01+02:00' }, ['d', 'c', 'b']],
      [
        'a timestamp and a context',
        { statusTimestampAfter: '2026-06-01T10:00:01.000Z', contextId: 'c1' },
        ['d', 'b'],
      ],
      [
        'a timestamp and a state',
        { statusTimestampAfter: '2026-06-01T10:00:02.000Z', status: 'working' },
        ['c'],
      ],
      [
        'all three',
        { statusTimestampAfter: '2026-06-01T10:00:01.000Z', status: 'failed', contextId: 'c1' },
        ['d'],
      ],
      ['a future timestamp', { statusTimestampAfter: '2027-01-01T00:00:00Z' }, []],
      ['a past timestamp', { statusTimestampAfter: '2020-01-01T00:00:00Z' }, ['d', 'c', 'b', 'a']],
      ['a context without tasks', { contextId: 'c3' }, []],
      ['a state without tasks', { status: 'rejected' }, []],
    ])('filters by %s', async (_, request, expected) => {
      expect(await ids(request)).toEqual(expected);
      const first = await list({ ...request, pageSize: 1 });
      expect(first.totalSize).toBe(expected.length);
      expect(first.tasks.map(({ id }) => id)).toEqual(expected.slice(0, 1));
      expect(first.nextPageToken === '').toBe(expected.length <= 1);
    });

    it('moves a task between state filters when its state changes', async () => {
      const log = await openToChange(fixture.taskStore, 'c');
      log.append(status(log, 'input-required'));
      await log.whenPersisted();
      expect(await ids({ status: 'working' })).toEqual(['b']);
      expect(await ids({ status: 'input-required' })).toEqual(['c']);
      expect((await list({ status: 'working' })).totalSize).toBe(1);
      expect((await list({})).totalSize).toBe(4);
    });

    it('omits artifacts unless includeArtifacts is set', async () => {
      const log = await openToChange(fixture.taskStore, 'b');
      log.append(chunk(log, 'x', false));
      await log.whenPersisted();
      const [plain] = (await list({ contextId: 'c1', status: 'working' })).tasks;
      expect(plain && 'artifacts' in plain).toBe(false);
      const [full] = (await list({ contextId: 'c1', status: 'working', includeArtifacts: true })).tasks;
      expect(full?.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'x' }] }]);
      const [none] = (await list({ contextId: 'c2', includeArtifacts: true })).tasks;
      expect(none?.artifacts).toEqual([]);
    });

    it('limits the history to historyLength', async () => {
      const history = [message('m1'), message('m2'), message('m3')];
      await createTask(fixture.taskStore, 'e', [], { contextId: 'c4', history });
      const historyWith = async (historyLength?: number) =>
        (await list({ contextId: 'c4', historyLength })).tasks[0]?.history;
      expect(await historyWith()).toEqual(history);
      expect(await historyWith(2)).toEqual(history.slice(1));
      expect(await historyWith(0)).toBeUndefined();
    });

    it.each<[string, ListTasksRequest]>([
      ['pageToken', { pageToken: 'nonsense!' }],
      ['pageToken', { pageToken: 'pzzzzzzzzzzzzzzzz' }],
      ['pageSize', { pageSize: 0 }],
      ['pageSize', { pageSize: 101 }],
      ['pageSize', { pageSize: 1.5 }],
      ['statusTimestampAfter', { statusTimestampAfter: 'yesterday' }],
    ])('rejects an invalid %s with INVALID_PARAMS: %o', async (field, request) => {
      await expect(list(request)).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
        violations: [{ field }],
      });
    });
  });
}
