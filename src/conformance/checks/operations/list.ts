import { defineChecks } from '../../check.ts';
import { RuleViolationError, InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import type { OperationInput } from '../../drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { asList } from '../../drivers/normalized-views.ts';

/** A page of tasks. */
interface Page {
  readonly tasks: readonly JsonObject[];
  readonly nextPageToken: unknown;
  readonly pageSize: unknown;
  readonly totalSize: unknown;
  readonly raw: JsonObject;
}

async function list(probe: Probe, input: OperationInput): Promise<Page> {
  const raw = await probe.expectResult('list', input);
  if (!isJsonObject(raw))
    throw new RuleViolationError('list gave something that is no page', {
      exchanges: probe.exchanges.slice(-1),
    });
  const { nextPageToken, pageSize, totalSize } = raw;
  return { tasks: (asList(raw.tasks) ?? []).filter(isJsonObject), nextPageToken, pageSize, totalSize, raw };
}

/** Some tasks in a context of their own, the oldest first. */
async function several(probe: Probe, count: number): Promise<{ contextId: string; ids: string[] }> {
  const first = await probe.completeTask();
  const contextId = first.contextId ?? '';
  const ids = [first.id];
  for (let i = 1; i < count; i++) ids.push((await probe.completeTask({ message: { contextId } })).id ?? '');
  if (new Set(ids).size !== count)
    throw new InconclusiveError('The messages did not each make a task of their own.');
  return { contextId, ids };
}

const idsOf = ({ tasks }: Page): string[] => tasks.map(({ id }) => String(id));
const timeOf = (task: JsonObject): number => {
  const { timestamp } = (isJsonObject(task.status) ? task.status : {}) as { timestamp?: unknown };
  return Date.parse(String(timestamp));
};

/** Walks all pages, with a guard against walks that never end. */
async function walk(probe: Probe, input: OperationInput, most: number): Promise<Page[]> {
  const pages: Page[] = [];
  let pageToken: string | undefined;
  do {
    const page = await list(probe, pageToken === undefined ? input : { ...input, pageToken });
    pages.push(page);
    pageToken =
      typeof page.nextPageToken === 'string' && page.nextPageToken !== '' ? page.nextPageToken : undefined;
    if (pages.length > most)
      throw new RuleViolationError(`After ${most} pages there was still another one`, {
        exchanges: probe.exchanges.slice(-2),
      });
  } while (pageToken !== undefined);
  return pages;
}

const rule = { section: '3.1.4', level: 'MUST', category: 'lifecycle', versions: ['1.0'] } as const;

/** ListTasks: section 3.1.4. */
export const listChecks = defineChecks([
  {
    ...rule,
    id: 'list.finds',
    requirements: ['LIST-010'],
    sentence: 'Tasks are listed by their context: all of it, and nothing else.',
    remedy: 'Filter by contextId.',
    async run(probe) {
      const { contextId, ids } = await several(probe, 3);
      await probe.completeTask();
      const page = await list(probe, { contextId });
      const found = idsOf(page).toSorted();
      probe.expect(
        found.join() === ids.toSorted().join(),
        'Other tasks are listed than those of the context',
        {
          expected: ids.toSorted().join(', '),
          actual: found.join(', '),
        },
      );
    },
  },
  {
    ...rule,
    id: 'list.no-artifacts',
    requirements: ['LIST-001'],
    sentence: 'Unless they are asked for, listed tasks have no artifacts member at all.',
    remedy: 'Leave artifacts out when includeArtifacts is not true.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      await probe.waitUntilTerminalOrInterrupted(task.id);
      for (const input of [{}, { includeArtifacts: false }]) {
        const page = await list(probe, { contextId: task.contextId ?? '', ...input });
        probe.expect(page.tasks.length > 0, 'The task is not listed');
        probe.expect(
          page.tasks.every((each) => !('artifacts' in each)),
          'A listed task has artifacts that nobody asked for',
        );
      }
    },
  },
  {
    ...rule,
    id: 'list.with-artifacts',
    requirements: ['LIST-012'],
    level: 'SHOULD',
    sentence: 'Where they are asked for, listed tasks have their artifacts.',
    remedy: 'Add artifacts when includeArtifacts is true.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      const rested = await probe.waitUntilTerminalOrInterrupted(task.id);
      if ((rested.artifacts ?? []).length === 0) throw new InconclusiveError('The task made no artifact.');
      const page = await list(probe, { contextId: task.contextId ?? '', includeArtifacts: true });
      const listed = page.tasks.find(({ id }) => id === task.id);
      probe.expect(listed !== undefined, 'The task is not listed');
      const found = asList(listed?.artifacts) ?? [];
      probe.expect(found.length === rested.artifacts?.length, 'The artifacts are not listed', {
        expected: String(rested.artifacts?.length),
        actual: String(found.length),
      });
    },
  },
  {
    ...rule,
    id: 'list.last-page',
    requirements: ['LIST-002', 'LIST-003'],
    sentence: 'nextPageToken is always there, and empty on the last page.',
    remedy: 'Send nextPageToken: "" on the last page.',
    async run(probe) {
      const task = await probe.completeTask();
      for (const input of [{ contextId: task.contextId ?? '' }, { contextId: crypto.randomUUID() }]) {
        const page = await list(probe, input);
        probe.expect('nextPageToken' in page.raw, 'nextPageToken is missing');
        probe.expect(page.nextPageToken === '', 'The last page has a token', {
          expected: '""',
          actual: JSON.stringify(page.nextPageToken),
        });
      }
    },
  },
  {
    ...rule,
    id: 'list.walk',
    requirements: ['LIST-005', 'LIST-011'],
    sentence: 'A walk over all pages gives every task once, also while new ones are made.',
    remedy: 'Let the token say after which task to go on, not how many to skip.',
    async run(probe) {
      const { contextId, ids } = await several(probe, 4);
      const pages = await walk(probe, { contextId, pageSize: 1 }, 12);
      const found = pages.flatMap(idsOf);
      probe.expect(new Set(found).size === found.length, 'A task came twice', { actual: found.join(', ') });
      probe.expect(found.toSorted().join() === ids.toSorted().join(), 'The walk did not give every task', {
        expected: ids.toSorted().join(', '),
        actual: found.toSorted().join(', '),
      });
      const first = await list(probe, { contextId, pageSize: 2 });
      await probe.completeTask({ message: { contextId } });
      const pageToken = String(first.nextPageToken);
      const second = await list(probe, { contextId, pageSize: 2, pageToken });
      const both = [...idsOf(first), ...idsOf(second)];
      probe.expect(
        new Set(both).size === both.length,
        'A task came twice because a new one was made meanwhile',
        { actual: both.join(', ') },
      );
      const missing = ids.filter((id) => !both.includes(id));
      probe.expect(missing.length === 0, 'A task was skipped because a new one was made meanwhile', {
        actual: missing.join(', '),
      });
    },
  },
  {
    ...rule,
    id: 'list.order',
    requirements: ['LIST-006', 'LIST-008'],
    sentence: 'Tasks are listed by the time of their status, the newest first.',
    remedy: 'Sort by status.timestamp, descending.',
    async run(probe) {
      const waiting = await probe.sendPrompt('input-required');
      const contextId = waiting.contextId ?? '';
      for (let i = 0; i < 2; i++) await probe.completeTask({ message: { contextId } });
      await probe.expectResult('send', { message: { text: 'the first one', taskId: waiting.id } });
      await probe.waitUntilTerminalOrInterrupted(waiting.id);
      const { tasks } = await list(probe, { contextId });
      const times = tasks.map(timeOf);
      const isSorted = times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0));
      probe.expect(isSorted, 'The tasks are not in the order of their statuses', {
        actual: times.join(', '),
      });
      probe.expect(tasks[0]?.id === waiting.id, 'The task that changed last is not the first');
    },
  },
  {
    ...rule,
    id: 'list.sizes',
    requirements: ['LIST-011'],
    sentence: 'A page says how many tasks there are in all, and how many it may hold.',
    remedy: 'Count all that match for totalSize, and repeat the size that was used as pageSize.',
    async run(probe) {
      const { contextId } = await several(probe, 3);
      const page = await list(probe, { contextId, pageSize: 1 });
      probe.expect(page.tasks.length === 1, 'A page of one has another number of tasks', {
        expected: '1',
        actual: String(page.tasks.length),
      });
      probe.expect(page.totalSize === 3, 'totalSize is not the number of all that match', {
        expected: '3',
        actual: JSON.stringify(page.totalSize),
      });
      probe.expect(page.pageSize === 1, 'pageSize is not the size that was asked for', {
        expected: '1',
        actual: JSON.stringify(page.pageSize),
      });
      probe.expect(page.nextPageToken !== '', 'There is no way to the next page');
    },
  },
  {
    ...rule,
    id: 'list.page-size',
    requirements: ['LIST-009', 'ERR-009'],
    category: 'error-handling',
    sentence: 'A page has 1 to 100 tasks; whoever asks for another number is refused.',
    remedy: 'Answer -32602 (HTTP 400) to a pageSize outside 1 to 100.',
    async run(probe) {
      for (const pageSize of [0, -1, 101]) await probe.expectError('list', { pageSize }, 'InvalidParams');
      const page = await list(probe, {});
      probe.expect(page.tasks.length <= 50, 'A page has more than 50 tasks although no size was asked for', {
        actual: String(page.tasks.length),
      });
      await list(probe, { pageSize: 100 });
    },
  },
  {
    ...rule,
    id: 'list.bad-token',
    requirements: ['LIST-005', 'ERR-009'],
    category: 'error-handling',
    sentence: 'A page token that is none is refused.',
    remedy: 'Answer -32602 (HTTP 400).',
    async run(probe) {
      await probe.expectError('list', { pageToken: 'this-is-no-token' }, 'InvalidParams');
    },
  },
  {
    ...rule,
    id: 'list.by-status',
    requirements: ['LIST-010'],
    sentence: 'Tasks are listed by their state.',
    remedy: 'Filter by status.',
    async run(probe) {
      const waiting = await probe.sendPrompt('input-required');
      const contextId = waiting.contextId ?? '';
      const done = await probe.completeTask({ message: { contextId } });
      const { wireStates: states } = probe.driver;
      const waitingOnes = await list(probe, { contextId, status: states['input-required'] ?? '' });
      probe.expect(idsOf(waitingOnes).join() === waiting.id, 'The filter by state gave other tasks', {
        expected: waiting.id,
        actual: idsOf(waitingOnes).join(', '),
      });
      const doneOnes = await list(probe, { contextId, status: states.completed ?? '' });
      probe.expect(idsOf(doneOnes).join() === done.id, 'The filter by state gave other tasks', {
        expected: done.id,
        actual: idsOf(doneOnes).join(', '),
      });
      probe.expect(doneOnes.totalSize === 1, 'totalSize does not heed the filter', {
        expected: '1',
        actual: JSON.stringify(doneOnes.totalSize),
      });
    },
  },
  {
    ...rule,
    id: 'list.since',
    requirements: ['LIST-010'],
    sentence: 'Tasks are listed from a moment on, the moment included.',
    remedy: 'Compare status.timestamp with >=.',
    async run(probe) {
      const { contextId, ids } = await several(probe, 3);
      const all = await list(probe, { contextId });
      const middle = all.tasks[1];
      const { timestamp } = (isJsonObject(middle?.status) ? middle.status : {}) as { timestamp?: string };
      if (timestamp === undefined) throw new InconclusiveError('Statuses have no timestamp.');
      const since = await list(probe, { contextId, statusTimestampAfter: timestamp });
      const expected = all.tasks
        .filter((task) => timeOf(task) >= Date.parse(timestamp))
        .map(({ id }) => String(id));
      probe.expect(
        idsOf(since).toSorted().join() === expected.toSorted().join(),
        'Other tasks are listed than those from that moment on',
        {
          expected: expected.join(', '),
          actual: idsOf(since).join(', '),
        },
      );
      const future = await list(probe, { contextId, statusTimestampAfter: '2999-01-01T00:00:00.000Z' });
      probe.expect(future.tasks.length === 0, `${ids.length} tasks of the future are listed`, {
        actual: String(future.tasks.length),
      });
    },
  },
  {
    ...rule,
    id: 'list.history',
    requirements: ['HIST-002', 'HIST-001'],
    section: '3.2.4',
    sentence: 'Listed tasks have no more history than was asked for.',
    remedy: 'Cut the history of each listed task.',
    async run(probe) {
      const task = await probe.completeTask();
      const page = await list(probe, { contextId: task.contextId ?? '', historyLength: 0 });
      const lengths = page.tasks.map(({ history }) => asList(history)?.length ?? 0);
      probe.expect(
        lengths.every((length) => length === 0),
        'Listed tasks have history although none was asked for',
        { actual: lengths.join(', ') },
      );
    },
  },
  {
    ...rule,
    id: 'list.current',
    requirements: ['LIST-010', 'BIND-002'],
    sentence: 'A listed task is in the state in which it is.',
    remedy: 'List from where tasks are stored.',
    async run(probe) {
      const task = await probe.completeTask();
      const page = await list(probe, { contextId: task.contextId ?? '' });
      const listed = page.tasks.find(({ id }) => id === task.id);
      const { state } = (isJsonObject(listed?.status) ? listed.status : {}) as { state?: string };
      probe.expect(state === probe.driver.wireStates.completed, 'The list shows another state', {
        expected: probe.driver.wireStates.completed ?? '',
        actual: state ?? 'none',
      });
      probe.expect(listed?.contextId === task.contextId, 'The list shows another context', {
        actual: String(listed?.contextId),
      });
    },
  },
]);
