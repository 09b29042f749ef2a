import { describe, expect, it } from 'vitest';
import type { ListTasksRequest } from '../../../src/protocol/requests.ts';
import type { ContractFixture } from '../task-store.ts';
import { createTask, openToChange, owner, status } from './actions.ts';

export function describePaging(fixture: ContractFixture): void {
  /** Reads all pages and calls a function after each page. */
  async function readAllPages(
    request: ListTasksRequest,
    afterPage: (page: number) => Promise<unknown>,
  ): Promise<string[]> {
    const ids: string[] = [];
    let pageToken: string | undefined;
    for (let page = 0; pageToken !== ''; page++) {
      const { tasks, nextPageToken, pageSize } = await fixture.taskStore.list(owner, {
        ...request,
        pageToken,
      });
      expect(pageSize).toBe(request.pageSize);
      expect(tasks.length).toBeLessThanOrEqual(pageSize);
      ids.push(...tasks.map(({ id }) => id));
      pageToken = nextPageToken;
      await afterPage(page);
      if (page > 1_000) throw new Error('too many pages');
    }
    return ids;
  }

  describe('page tokens', () => {
    it.each([1, 3, 100])('returns each task once with a page size of %i', async (pageSize) => {
      for (let n = 0; n < 12; n++) await createTask(fixture.taskStore, `t${n}`, ['working']);
      const ids = await readAllPages({ pageSize }, async () => undefined);
      expect(ids).toEqual(Array.from({ length: 12 }, (_, n) => `t${11 - n}`));
    });

    it('returns every unchanged task exactly once while others are added and changed', async () => {
      for (let n = 0; n < 30; n++) await createTask(fixture.taskStore, `t${n}`, ['working']);
      const moved = new Set<string>();
      const ids = await readAllPages({ pageSize: 1 }, async (page) => {
        if (page < 30) await createTask(fixture.taskStore, `new${page}`, ['working']);
        const id = `t${(page * 7) % 30}`;
        if (page % 3 !== 0) return;
        moved.add(id);
        const log = await openToChange(fixture.taskStore, id);
        log.append(status(log, 'working'));
        await log.whenPersisted();
      });
      expect(new Set(ids).size).toBe(ids.length);
      const untouched = Array.from({ length: 30 }, (_, n) => `t${29 - n}`).filter((id) => !moved.has(id));
      expect(ids.filter((id) => untouched.includes(id))).toEqual(untouched);
      expect(untouched.length).toBeGreaterThan(10);
    });

    it('continues after the last task of the previous page has left the filter', async () => {
      for (let n = 0; n < 6; n++)
        await createTask(fixture.taskStore, `t${n}`, ['working'], { contextId: 'c' });
      const ids = await readAllPages({ pageSize: 1, status: 'working', contextId: 'c' }, async (page) => {
        const log = await openToChange(fixture.taskStore, `t${5 - page}`);
        log.append(status(log, 'completed'));
        await log.whenPersisted();
      });
      expect(ids).toEqual(['t5', 't4', 't3', 't2', 't1', 't0']);
    });

    it('returns totalSize on every page', async () => {
      for (let n = 0; n < 5; n++) await createTask(fixture.taskStore, `t${n}`);
      const first = await fixture.taskStore.list(owner, { pageSize: 2 });
      expect(first.totalSize).toBe(5);
      const second = await fixture.taskStore.list(owner, { pageSize: 2, pageToken: first.nextPageToken });
      expect(second.totalSize).toBe(5);
      expect(second.tasks.map(({ id }) => id)).toEqual(['t2', 't1']);
    });

    it('reveals neither the number of changes nor the order of tasks', async () => {
      for (let n = 0; n < 4; n++) await createTask(fixture.taskStore, `t${n}`, ['working']);
      const tokens: string[] = [];
      for (const pageSize of [1, 2, 3])
        tokens.push((await fixture.taskStore.list(owner, { pageSize })).nextPageToken);
      for (const token of tokens) expect(token).toMatch(/^[\w-]{22}$/);
      expect(new Set(tokens.map((token) => token.slice(0, 4))).size).toBe(3);
    });

    it('rejects tokens of other owners and forged ones', async () => {
      for (const as of [owner, 'bob'])
        for (let n = 0; n < 3; n++) await createTask(fixture.taskStore, `${as}${n}`, ['working'], {}, as);
      const { nextPageToken } = await fixture.taskStore.list('bob', { pageSize: 1 });
      const forged = (nextPageToken.startsWith('A') ? 'B' : 'A') + nextPageToken.slice(1);
      for (const pageToken of [
        nextPageToken,
        forged,
        'p1',
        '1',
        nextPageToken.repeat(2),
        '\u0000'.repeat(22),
      ]) {
        const list = async () => fixture.taskStore.list(owner, { pageSize: 1, pageToken });
        await expect(list()).rejects.toMatchObject({
          reason: 'INVALID_PARAMS',
          message: 'pageToken must be a page token returned by this agent',
        });
      }
    });

    it('returns 50 tasks by default', async () => {
      for (let n = 0; n < 60; n++) await fixture.taskStore.create(owner, { ...(await makeTask(n)) });
      const log = await createTask(fixture.taskStore, 'last');
      await log.whenPersisted();
      const page = await fixture.taskStore.list(owner, {});
      expect(page.tasks).toHaveLength(50);
      expect(page.pageSize).toBe(50);
      expect(page.totalSize).toBe(61);
    });
  });
}

async function makeTask(n: number) {
  return { id: `t${n}`, contextId: 'c', status: { state: 'submitted' as const } };
}
