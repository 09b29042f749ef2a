import { describe, expect, it } from 'vitest';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import { listWithoutTests } from './task-list.ts';

const task = (id: string): Task => ({ id, contextId: 'c', status: { state: 'completed' } });

/** Pages of an agent with tasks `0` to `count - 1`, and the requests for them. */
function agentWith(count: number): {
  readPage: (request: ListTasksRequest, isFirst: boolean) => Promise<TaskPage>;
  requests: (ListTasksRequest & { isFirst: boolean })[];
} {
  const requests: (ListTasksRequest & { isFirst: boolean })[] = [];
  return {
    requests,
    readPage: async (request, isFirst) => {
      requests.push({ ...request, isFirst });
      const { pageSize = 50, pageToken = '0' } = request;
      const start = Number(pageToken);
      const end = Math.min(count, start + pageSize);
      const tasks = Array.from({ length: end - start }, (_, at) => task(String(start + at)));
      return { tasks, nextPageToken: end < count ? String(end) : '', pageSize, totalSize: count };
    },
  };
}

describe('listWithoutTests', () => {
  it('reads pages until enough tasks of users are found', async () => {
    const { readPage, requests } = agentWith(4_200);
    const page = await listWithoutTests(readPage, { contextId: 'c' }, (id) => Number(id) < 4_180);
    expect(page.tasks.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => String(4_180 + at)));
    expect(page).toMatchObject({ hiddenCount: 4_180, nextPageToken: '', totalSize: 4_200 });
    expect(requests).toHaveLength(42);
    expect(requests.every(({ contextId }) => contextId === 'c')).toBe(true);
    expect(requests.filter(({ isFirst }) => isFirst)).toHaveLength(1);
  });

  it('ends a page with the first page of the agent that fills it', async () => {
    const { readPage, requests } = agentWith(1_000);
    const page = await listWithoutTests(readPage, {}, (id) => Number(id) % 2 === 0);
    expect([page.tasks.length, page.hiddenCount, page.nextPageToken]).toEqual([50, 50, '100']);
    const next = await listWithoutTests(readPage, { pageToken: '100' }, () => false);
    expect(next.tasks[0]?.id).toBe('100');
    expect(requests).toHaveLength(2);
  });

  it('reads at most 100 pages at once', async () => {
    const { readPage, requests } = agentWith(1_000_000);
    const page = await listWithoutTests(readPage, {}, () => true);
    expect([page.tasks.length, page.hiddenCount, page.nextPageToken]).toEqual([0, 10_000, '10000']);
    expect(requests).toHaveLength(100);
  });
});
