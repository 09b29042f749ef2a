import { describe, expect, it } from 'vitest';
import type { ListTasksRequest } from '../../../src/protocol/requests.ts';
import type { Bench } from '../task-store.ts';
import { given, owner, status } from './actions.ts';

export function describePaging(bench: Bench): void {
  /** Walks all pages, doing something between one and the next. */
  async function walk(
    request: ListTasksRequest,
    between: (page: number) => Promise<unknown>,
  ): Promise<string[]> {
    const seen: string[] = [];
    let pageToken: string | undefined;
    for (let page = 0; pageToken !== ''; page++) {
      const { tasks, nextPageToken, pageSize } = await bench.ledger.list(owner, { ...request, pageToken });
      expect(pageSize).toBe(request.pageSize);
      expect(tasks.length).toBeLessThanOrEqual(pageSize);
      seen.push(...tasks.map(({ id }) => id));
      pageToken = nextPageToken;
      await between(page);
      if (page > 1_000) throw new Error('the pages do not end');
    }
    return seen;
  }

  describe('paging', () => {
    it.each([1, 3, 100])('shows each task once with pages of %i', async (pageSize) => {
      for (let n = 0; n < 12; n++) await given(bench.ledger, `t${n}`, ['working']);
      const seen = await walk({ pageSize }, async () => undefined);
      expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => `t${11 - n}`));
    });

    it('shows every untouched task exactly once while others come and move', async () => {
      for (let n = 0; n < 30; n++) await given(bench.ledger, `t${n}`, ['working']);
      const moved = new Set<string>();
      const seen = await walk({ pageSize: 1 }, async (page) => {
        if (page < 30) await given(bench.ledger, `new${page}`, ['working']);
        const id = `t${(page * 7) % 30}`;
        if (page % 3 !== 0) return;
        moved.add(id);
        const log = await bench.ledger.open(owner, id);
        log?.append(status(log, 'working'));
        await log?.whenPersisted();
      });
      expect(new Set(seen).size).toBe(seen.length);
      const untouched = Array.from({ length: 30 }, (_, n) => `t${29 - n}`).filter((id) => !moved.has(id));
      expect(seen.filter((id) => untouched.includes(id))).toEqual(untouched);
      expect(untouched.length).toBeGreaterThan(10);
    });

    it('goes on after the task that the page before ended with has left the filter', async () => {
      for (let n = 0; n < 6; n++) await given(bench.ledger, `t${n}`, ['working'], { contextId: 'c' });
      const seen = await walk({ pageSize: 1, status: 'working', contextId: 'c' }, async (page) => {
        const log = await bench.ledger.open(owner, `t${5 - page}`);
        log?.append(status(log, 'completed'));
        await log?.whenPersisted();
      });
      expect(seen).toEqual(['t5', 't4', 't3', 't2', 't1', 't0']);
    });

    it('says on every page how many tasks there are', async () => {
      for (let n = 0; n < 5; n++) await given(bench.ledger, `t${n}`);
      const first = await bench.ledger.list(owner, { pageSize: 2 });
      expect(first.totalSize).toBe(5);
      const second = await bench.ledger.list(owner, { pageSize: 2, pageToken: first.nextPageToken });
      expect(second.totalSize).toBe(5);
      expect(second.tasks.map(({ id }) => id)).toEqual(['t2', 't1']);
    });

    it('shows fifty tasks when nobody says how many', async () => {
      for (let n = 0; n < 60; n++) await bench.ledger.create(owner, { ...(await makeTask(n)) });
      const log = await given(bench.ledger, 'last');
      await log.whenPersisted();
      const page = await bench.ledger.list(owner, {});
      expect(page.tasks).toHaveLength(50);
      expect(page.pageSize).toBe(50);
      expect(page.totalSize).toBe(61);
    });
  });
}

async function makeTask(n: number) {
  return { id: `t${n}`, contextId: 'c', status: { state: 'submitted' as const } };
}
