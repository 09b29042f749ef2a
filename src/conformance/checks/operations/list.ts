import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { RuleViolationError, InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import type { OperationInput } from '../../drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';

interface TaskPage {
  readonly tasks: readonly JsonObject[];
  readonly nextPageToken: unknown;
  readonly pageSize: unknown;
  readonly totalSize: unknown;
  readonly raw: JsonObject;
}

async function list(probe: Probe, input: OperationInput): Promise<TaskPage> {
  const raw = await probe.expectResult('list', input);
  if (!isJsonObject(raw))
    throw new RuleViolationError('list did not return an object', { exchanges: probe.exchanges.slice(-1) });
  const { nextPageToken, pageSize, totalSize } = raw;
  return { tasks: objectsOf(raw.tasks), nextPageToken, pageSize, totalSize, raw };
}

/** Creates completed tasks in a new context, the oldest first. */
async function createTasks(probe: Probe, count: number): Promise<{ contextId: string; ids: string[] }> {
  const first = await probe.completeTask();
  const contextId = first.contextId ?? '';
  const ids = [first.id];
  for (let i = 1; i < count; i++) ids.push((await probe.completeTask({ message: { contextId } })).id ?? '');
  if (new Set(ids).size !== count)
    throw new InconclusiveError('The agent did not create a new task for each message.');
  return { contextId, ids };
}

const taskIds = ({ tasks }: TaskPage): string[] => tasks.map(({ id }) => String(id));
const statusTime = (task: JsonObject): number => {
  const { timestamp } = (isJsonObject(task.status) ? task.status : {}) as { timestamp?: unknown };
  return Date.parse(String(timestamp));
};

/** Creates tasks in a new context, and returns the time of one that is neither the oldest nor the newest. */
async function createDatedTasks(probe: Probe) {
  const { contextId } = await createTasks(probe, 3);
  const { tasks: all } = await list(probe, { contextId });
  const [, middle = {}] = all;
  const { timestamp } = objectOf(middle.status);
  if (typeof timestamp !== 'string') throw new InconclusiveError('The status has no timestamp.');
  return { contextId, all, id: String(middle.id), timestamp };
}

/** Reads all pages. @throws RuleViolationError after `maxPages`, because the pagination may never end. */
async function listAllPages(probe: Probe, input: OperationInput, maxPages: number): Promise<TaskPage[]> {
  const pages: TaskPage[] = [];
  let pageToken: string | undefined;
  do {
    const page = await list(probe, pageToken === undefined ? input : { ...input, pageToken });
    pages.push(page);
    pageToken =
      typeof page.nextPageToken === 'string' && page.nextPageToken !== '' ? page.nextPageToken : undefined;
    if (pages.length > maxPages)
      throw new RuleViolationError(`The pagination did not end after ${maxPages} pages`, {
        exchanges: probe.exchanges.slice(-2),
      });
  } while (pageToken !== undefined);
  return pages;
}

/** ListTasks: section 3.1.4. */
export const listChecks = defineChecks({ category: 'lifecycle', versions: ['1.0'] }, [
  {
    id: 'list.finds',
    ...must('3.1.4', 'LIST-010'),
    sentence: 'With contextId the agent lists exactly the tasks of the context.',
    remedy: 'Filter by contextId.',
    async run(probe) {
      const { contextId, ids } = await createTasks(probe, 3);
      await probe.completeTask();
      const found = taskIds(await list(probe, { contextId }));
      probe.expectSameItems(found, ids, 'The list does not contain exactly the tasks of the context');
    },
  },
  {
    id: 'list.no-artifacts',
    ...must('3.1.4', 'LIST-001'),
    sentence: 'Without includeArtifacts the listed tasks have no artifacts member.',
    remedy: 'Omit artifacts unless includeArtifacts is true.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      await probe.waitUntilTerminalOrInterrupted(task.id);
      for (const input of [{}, { includeArtifacts: false }]) {
        const page = await list(probe, { contextId: task.contextId ?? '', ...input });
        probe.expect(page.tasks.length > 0, 'The list does not contain the task');
        const withArtifacts = page.tasks.filter((each) => 'artifacts' in each);
        probe.expectEmpty(withArtifacts, 'A listed task has artifacts without includeArtifacts');
      }
    },
  },
  {
    id: 'list.with-artifacts',
    ...should('3.1.4', 'LIST-012'),
    sentence: 'With includeArtifacts the listed tasks contain their artifacts.',
    remedy: 'Add artifacts if includeArtifacts is true.',
    async run(probe) {
      const task = await probe.sendPrompt('artifact');
      const ended = await probe.waitUntilTerminalOrInterrupted(task.id);
      if ((ended.artifacts ?? []).length === 0) throw new InconclusiveError('The task has no artifacts.');
      const page = await list(probe, { contextId: task.contextId ?? '', includeArtifacts: true });
      const listed = page.tasks.find(({ id }) => id === task.id);
      probe.expect(listed !== undefined, 'The list does not contain the task');
      const artifacts = listOf(listed?.artifacts);
      probe.expectEqual(artifacts.length, ended.artifacts?.length, 'The listed task lacks artifacts');
    },
  },
  {
    id: 'list.last-page',
    ...must('3.1.4', 'LIST-002', 'LIST-003'),
    sentence: 'Every page has nextPageToken; it is empty on the last page.',
    remedy: 'Return nextPageToken: "" on the last page.',
    async run(probe) {
      const task = await probe.completeTask();
      for (const input of [{ contextId: task.contextId ?? '' }, { contextId: crypto.randomUUID() }]) {
        const page = await list(probe, input);
        probe.expect('nextPageToken' in page.raw, 'nextPageToken is missing');
        probe.expectEqual(page.nextPageToken, '', 'The last page has a nextPageToken');
      }
    },
  },
  {
    id: 'list.walk',
    ...must('3.1.4', 'LIST-005', 'LIST-011'),
    sentence: 'The pages together contain every task once, even if tasks are created between requests.',
    remedy: 'Encode the last task in the page token, not an offset.',
    async run(probe) {
      const { contextId, ids } = await createTasks(probe, 4);
      const pages = await listAllPages(probe, { contextId, pageSize: 1 }, 12);
      const found = pages.flatMap(taskIds);
      probe.expectUnique(found, 'A task is on two pages');
      probe.expectSameItems(found, ids, 'The pages do not contain every task');
      const first = await list(probe, { contextId, pageSize: 2 });
      await probe.completeTask({ message: { contextId } });
      const pageToken = String(first.nextPageToken);
      const second = await list(probe, { contextId, pageSize: 2, pageToken });
      const bothPages = [...taskIds(first), ...taskIds(second)];
      probe.expectUnique(bothPages, 'A task is on two pages after a new task was created');
      const missing = ids.filter((id) => !bothPages.includes(id));
      probe.expectEmpty(missing, 'A task is missing after a new task was created');
    },
  },
  {
    id: 'list.order',
    ...must('3.1.4', 'LIST-006', 'LIST-008'),
    sentence: 'The agent lists tasks by status timestamp, newest first.',
    remedy: 'Sort by status.timestamp in descending order.',
    async run(probe) {
      const waiting = await probe.sendPrompt('input-required');
      const contextId = waiting.contextId ?? '';
      for (let i = 0; i < 2; i++) await probe.completeTask({ message: { contextId } });
      await probe.expectResult('send', { message: { text: 'the first one', taskId: waiting.id } });
      await probe.waitUntilTerminalOrInterrupted(waiting.id);
      const { tasks } = await list(probe, { contextId });
      const times = tasks.map(statusTime);
      const isSorted = times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0));
      probe.expect(isSorted, 'The tasks are not sorted by status timestamp', { actual: times });
      probe.expect(tasks[0]?.id === waiting.id, 'The most recently changed task is not first');
    },
  },
  {
    id: 'list.sizes',
    ...must('3.1.4', 'LIST-011'),
    sentence: 'A page contains the total number of matching tasks and its page size.',
    remedy: 'Set totalSize to the number of all matching tasks, and pageSize to the effective page size.',
    async run(probe) {
      const { contextId } = await createTasks(probe, 3);
      const page = await list(probe, { contextId, pageSize: 1 });
      probe.expectEqual(page.tasks.length, 1, 'The number of tasks differs from pageSize');
      probe.expectEqual(page.totalSize, 3, 'totalSize is not the number of matching tasks');
      probe.expectEqual(page.pageSize, 1, 'pageSize is not the requested size');
      probe.expect(page.nextPageToken !== '', 'nextPageToken is empty before the last page');
    },
  },
  {
    id: 'list.page-size',
    ...must('3.1.4', 'LIST-009', 'ERR-009'),
    category: 'error-handling',
    sentence: 'The agent rejects a pageSize outside 1 to 100, and returns at most 50 tasks by default.',
    remedy: 'Return -32602 (HTTP 400) for a pageSize outside 1 to 100.',
    async run(probe) {
      for (const pageSize of [0, -1, 101]) await probe.expectError('list', { pageSize }, 'InvalidParams');
      const page = await list(probe, {});
      probe.expect(page.tasks.length <= 50, 'A page without pageSize has more than 50 tasks', {
        actual: page.tasks.length,
      });
      await list(probe, { pageSize: 100 });
    },
  },
  {
    id: 'list.bad-token',
    ...must('3.1.4', 'LIST-005', 'ERR-009'),
    category: 'error-handling',
    sentence: 'The agent rejects an invalid page token.',
    remedy: 'Return -32602 (HTTP 400).',
    async run(probe) {
      await probe.expectError('list', { pageToken: 'this-is-no-token' }, 'InvalidParams');
    },
  },
  {
    id: 'list.by-status',
    ...must('3.1.4', 'LIST-010'),
    sentence: 'With status the agent lists exactly the tasks in that state.',
    remedy: 'Filter by status.',
    async run(probe) {
      const waiting = await probe.sendPrompt('input-required');
      const contextId = waiting.contextId ?? '';
      const done = await probe.completeTask({ message: { contextId } });
      const { wireStates } = probe.driver;
      const waitingPage = await list(probe, { contextId, status: wireStates['input-required'] ?? '' });
      probe.expectEqual(taskIds(waitingPage).join(), waiting.id, 'The filter returned other tasks');
      const donePage = await list(probe, { contextId, status: wireStates.completed ?? '' });
      probe.expectEqual(taskIds(donePage).join(), done.id, 'The filter returned other tasks');
      probe.expectEqual(donePage.totalSize, 1, 'totalSize ignores the filter');
    },
  },
  {
    id: 'list.since',
    ...must('3.1.4', 'LIST-010'),
    sentence:
      'With statusTimestampAfter the agent lists no tasks that changed before that time, and all later ones.',
    remedy: 'Filter by status.timestamp.',
    async run(probe) {
      const { contextId, all, timestamp } = await createDatedTasks(probe);
      const future = await list(probe, { contextId, statusTimestampAfter: '2999-01-01T00:00:00.000Z' });
      probe.expectEmpty(
        taskIds(future),
        'The agent ignores statusTimestampAfter: it lists tasks for a future time',
      );
      const since = taskIds(await list(probe, { contextId, statusTimestampAfter: timestamp }));
      const isBefore = (task: JsonObject): boolean => statusTime(task) < Date.parse(timestamp);
      const isAfter = (task: JsonObject): boolean => statusTime(task) > Date.parse(timestamp);
      const early = all.filter(isBefore).filter(({ id }) => since.includes(String(id)));
      probe.expectEmpty(early, 'The list contains tasks that changed before that time');
      const missing = all.filter(isAfter).filter(({ id }) => !since.includes(String(id)));
      probe.expectEmpty(missing, 'The list lacks tasks that changed after that time');
    },
  },
  {
    id: 'list.since-inclusive',
    ...must('3.1.4', 'LIST-010'),
    sentence: 'With statusTimestampAfter the agent also lists the tasks that changed exactly at that time.',
    remedy: 'Compare status.timestamp with >=.',
    async run(probe) {
      const { contextId, id, timestamp } = await createDatedTasks(probe);
      const since = taskIds(await list(probe, { contextId, statusTimestampAfter: timestamp }));
      const evidence = { expected: `a list with ${id}`, actual: since };
      probe.expect(since.includes(id), 'The list lacks the task that changed exactly at that time', evidence);
    },
  },
  {
    id: 'list.history',
    ...must('3.2.4', 'HIST-002', 'HIST-001'),
    sentence: 'The listed tasks contain at most historyLength messages.',
    remedy: 'Limit the history of each listed task.',
    async run(probe) {
      const task = await probe.completeTask();
      const page = await list(probe, { contextId: task.contextId ?? '', historyLength: 0 });
      const messages = page.tasks.flatMap(({ history }) => listOf(history));
      probe.expectEmpty(messages, 'Listed tasks have history despite historyLength = 0');
    },
  },
  {
    id: 'list.current',
    ...must('3.1.4', 'LIST-010', 'BIND-002'),
    sentence: 'The agent lists tasks in their current state.',
    remedy: 'Read listed tasks from the task store.',
    async run(probe) {
      const task = await probe.completeTask();
      const page = await list(probe, { contextId: task.contextId ?? '' });
      const listed = page.tasks.find(({ id }) => id === task.id);
      const { state } = (isJsonObject(listed?.status) ? listed.status : {}) as { state?: string };
      probe.expectEqual(state, probe.driver.wireStates.completed, 'The list contains another state');
      probe.expectEqual(listed?.contextId, task.contextId, 'The list contains another context');
    },
  },
]);
