import { beforeEach, describe, expect, it } from 'vitest';
import type { ListTasksRequest } from '../../../src/protocol/requests.ts';
import type { Bench } from '../task-store.ts';
import { chunk, given, message, owner, status } from './actions.ts';

export function describeListing(bench: Bench): void {
  const list = async (request: ListTasksRequest) => bench.ledger.list(owner, request);
  const ids = async (request: ListTasksRequest) => (await list(request)).tasks.map(({ id }) => id);

  describe('listing', () => {
    beforeEach(async () => {
      await given(bench.ledger, 'a', ['working', 'completed'], { contextId: 'c1' });
      bench.now += 1_000;
      await given(bench.ledger, 'b', ['working'], { contextId: 'c1' });
      bench.now += 1_000;
      await given(bench.ledger, 'c', ['working'], { contextId: 'c2' });
      bench.now += 1_000;
      await given(bench.ledger, 'd', ['failed'], { contextId: 'c1' });
    });

    it('shows the newest status first', async () => {
      expect(await ids({})).toEqual(['d', 'c', 'b', 'a']);
      const log = await bench.ledger.open(owner, 'b');
      log?.append(status(log, 'completed'));
      await log?.whenPersisted();
      expect(await ids({})).toEqual(['b', 'd', 'c', 'a']);
    });

    it('does not move a task that only made an artifact or was spoken to', async () => {
      const log = await bench.ledger.open(owner, 'b');
      log?.append(chunk(log, 'x', false));
      log?.append({ kind: 'input', message: message('m') });
      await log?.whenPersisted();
      expect(await ids({})).toEqual(['d', 'c', 'b', 'a']);
      expect((await list({ includeArtifacts: true })).tasks[2]?.artifacts).toHaveLength(1);
    });

    it.each<[string, ListTasksRequest, string[]]>([
      ['a context', { contextId: 'c1' }, ['d', 'b', 'a']],
      ['a state', { status: 'working' }, ['c', 'b']],
      ['a context and a state', { contextId: 'c1', status: 'working' }, ['b']],
      ['a moment, inclusive', { statusTimestampAfter: '2026-06-01T10:00:02.000Z' }, ['d', 'c']],
      ['a moment in another zone', { statusTimestampAfter: '2026-06-01T12:00:01+02:00' }, ['d', 'c', 'b']],
      [
        'a moment and a context',
        { statusTimestampAfter: '2026-06-01T10:00:01.000Z', contextId: 'c1' },
        ['d', 'b'],
      ],
      [
        'a moment and a state',
        { statusTimestampAfter: '2026-06-01T10:00:02.000Z', status: 'working' },
        ['c'],
      ],
      [
        'all three',
        { statusTimestampAfter: '2026-06-01T10:00:01.000Z', status: 'failed', contextId: 'c1' },
        ['d'],
      ],
      ['a moment to come', { statusTimestampAfter: '2027-01-01T00:00:00Z' }, []],
      ['a moment long ago', { statusTimestampAfter: '2020-01-01T00:00:00Z' }, ['d', 'c', 'b', 'a']],
      ['a context without tasks', { contextId: 'c3' }, []],
      ['a state without tasks', { status: 'rejected' }, []],
    ])('filters by %s', async (_, request, expected) => {
      expect(await ids(request)).toEqual(expected);
      const first = await list({ ...request, pageSize: 1 });
      expect(first.totalSize).toBe(expected.length);
      expect(first.tasks.map(({ id }) => id)).toEqual(expected.slice(0, 1));
      expect(first.nextPageToken === '').toBe(expected.length <= 1);
    });

    it('follows the state of a task from one filter to the other', async () => {
      const log = await bench.ledger.open(owner, 'c');
      log?.append(status(log, 'input-required'));
      await log?.whenPersisted();
      expect(await ids({ status: 'working' })).toEqual(['b']);
      expect(await ids({ status: 'input-required' })).toEqual(['c']);
      expect((await list({ status: 'working' })).totalSize).toBe(1);
      expect((await list({})).totalSize).toBe(4);
    });

    it('leaves artifacts out unless they are asked for', async () => {
      const log = await bench.ledger.open(owner, 'b');
      log?.append(chunk(log, 'x', false));
      await log?.whenPersisted();
      const [plain] = (await list({ contextId: 'c1', status: 'working' })).tasks;
      expect(plain && 'artifacts' in plain).toBe(false);
      const [full] = (await list({ contextId: 'c1', status: 'working', includeArtifacts: true })).tasks;
      expect(full?.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: 'x' }] }]);
      const [none] = (await list({ contextId: 'c2', includeArtifacts: true })).tasks;
      expect(none?.artifacts).toEqual([]);
    });

    it('shows as much history as is asked for', async () => {
      const history = [message('m1'), message('m2'), message('m3')];
      await given(bench.ledger, 'e', [], { contextId: 'c4', history });
      const shown = async (historyLength?: number) =>
        (await list({ contextId: 'c4', historyLength })).tasks[0]?.history;
      expect(await shown()).toEqual(history);
      expect(await shown(2)).toEqual(history.slice(1));
      expect(await shown(0)).toBeUndefined();
    });

    it.each<[string, ListTasksRequest]>([
      ['pageToken', { pageToken: 'nonsense!' }],
      ['pageToken', { pageToken: 'pzzzzzzzzzzzzzzzz' }],
      ['pageSize', { pageSize: 0 }],
      ['pageSize', { pageSize: 101 }],
      ['pageSize', { pageSize: 1.5 }],
      ['statusTimestampAfter', { statusTimestampAfter: 'yesterday' }],
    ])('complains of a bad %s: %o', async (field, request) => {
      await expect(list(request)).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
        violations: [{ field }],
      });
    });
  });
}
