import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TaskStore } from '../../src/store/task-store.ts';
import { memoryTaskStore } from '../../src/store/memory-task-store.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import type { ListTasksRequest } from '../../src/protocol/requests.ts';
import { type TaskState, taskStates } from '../../src/protocol/task.ts';
import { chunk, message, newTask, status } from './task-store/actions.ts';

type Step =
  | { kind: 'create' | 'chunk' | 'input' | 'settle'; task: number }
  | { kind: 'status'; task: number; state: TaskState }
  | { kind: 'list'; request: ListTasksRequest }
  | { kind: 'expire'; ago: number };

const task = fc.nat(7);
const state = fc.constantFrom(...taskStates);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const request: fc.Arbitrary<ListTasksRequest> = fc.record({
  contextId: optional(fc.constantFrom('c0', 'c1')),
  status: optional(state),
  statusTimestampAfter: optional(fc.nat(60_000).map((ago) => new Date(ago).toISOString())),
  pageSize: fc.integer({ min: 1, max: 4 }),
  includeArtifacts: fc.boolean(),
  historyLength: optional(fc.nat(2)),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('create', 'chunk', 'input', 'settle'), task }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('status'), task, state }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('list'), request }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire'), ago: fc.nat(60_000) }) },
);

/** Executes a step and returns its observable result. */
async function execute(taskStore: TaskStore, each: Step): Promise<unknown> {
  if (each.kind === 'list') {
    const { nextPageToken, ...page } = await taskStore.list('ann', each.request);
    const next =
      nextPageToken && (await taskStore.list('ann', { ...each.request, pageToken: nextPageToken }));
    return [page, next && next.tasks.map(({ id }) => id)];
  }
  if (each.kind === 'expire') return taskStore.expire(new Date(each.ago));
  const id = `t${each.task}`;
  const log =
    (await taskStore.open('ann', id)) ??
    (await taskStore.create('ann', newTask(id, { contextId: `c${each.task % 2}` }), `m${each.task}`));
  if (each.kind === 'chunk') log.append(chunk(log, 'x'));
  if (each.kind === 'input') log.append({ kind: 'input', message: message('again') });
  if (each.kind === 'status') log.append(status(log, each.state, 'so'));
  await log.whenPersisted();
  return [log.sequence, log.state, log.task(), await taskStore.findByKey('ann', `m${each.task}`)];
}

it('memory and SQLite task stores return the same results for any sequence of operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      let now = 0;
      const clock = { now: () => now };
      const taskStores = [
        memoryTaskStore({ ...clock, maxReplayableEvents: 2 }),
        await sqliteTaskStore({ ...clock, file: ':memory:' }),
        await sqliteTaskStore({ ...clock, file: ':memory:', maxCachedTasks: 1 }),
      ];
      // The engine never appends to a finished task.
      const finished = new Set<number>();
      for (const each of steps) {
        now += 1_000;
        if ('task' in each && finished.has(each.task)) continue;
        if (each.kind === 'status' && ['completed', 'failed', 'canceled', 'rejected'].includes(each.state)) {
          finished.add(each.task);
        }
        const [first, ...others] = await Promise.all(taskStores.map((taskStore) => execute(taskStore, each)));
        for (const other of others) expect(other).toEqual(first);
      }
      for (const taskStore of taskStores) await taskStore[Symbol.asyncDispose]();
    }),
    { numRuns: 40 },
  );
});
