import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { ListTasksRequest, TaskPage } from '../../../protocol/requests.ts';
import { isTask, isTerminal, type Task, type TaskState } from '../../../protocol/task.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { quoteShellWord } from '../../terminal/quote-shell-word.ts';
import { followToEnd, pollToEnd, printOutcome } from '../../client/wait.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of the task commands, in addition to those of all client commands. */
export interface TaskFlags {
  history?: number;
  status?: TaskState;
  contextId?: string;
  after?: string;
  pageSize?: number;
  pageToken?: string;
  all?: boolean;
  artifacts?: boolean;
}

/** Runs `dragoman task get`. */
export async function runTaskGetCommand(command: Command, id: string, { history }: TaskFlags): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, flags, out } = session;
    session.taskId = id;
    const current = await agent.getTask({ id, historyLength: history }, call);
    const task = flags.wait === true ? await pollToEnd(session, current, history) : current;
    out.task(task);
    if (!out.isJson && history !== undefined) out.history(task.history ?? []);
    printOutcome(session, task);
  });
}

/** Runs `dragoman task cancel`. */
export async function runTaskCancelCommand(command: Command, id: string): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, flags, out } = session;
    session.taskId = id;
    const request = { id, ...(flags.metadata && { metadata: flags.metadata }) };
    out.task(await agent.cancelTask(request, call).catch((thrown) => findCanceledTask(session, id, thrown)));
    out.end();
  });
}

/** Makes canceling idempotent: returns a task that was canceled earlier. */
async function findCanceledTask({ agent, call }: ClientSession, id: string, thrown: unknown): Promise<Task> {
  if (A2AError.from(thrown).reason !== 'TASK_NOT_CANCELABLE') throw thrown;
  const task = await agent.getTask({ id }, call);
  if (task.status.state !== 'canceled') throw thrown;
  return task;
}

/** Runs `dragoman task subscribe`. */
export async function runTaskSubscribeCommand(command: Command, id: string): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, flags, out, card } = session;
    session.taskId = id;
    if (card.capabilities.streaming !== true) {
      const task = await pollToEnd(session, await agent.getTask({ id }, call));
      if (flags.stream) out.event({ kind: 'task', task });
      else out.task(task);
      printOutcome(session, task);
      return;
    }
    const result = await subscribeToEnd(session, id);
    if (!flags.stream && isTask(result)) out.task(result);
    printOutcome(session, result);
  });
}

/** Subscribes to a task. A terminal task cannot be subscribed to and is fetched instead. */
async function subscribeToEnd(session: ClientSession, id: string): ReturnType<typeof followToEnd> {
  const { agent, call, flags, out } = session;
  let hasEvents = false;
  const onEvent: Parameters<typeof followToEnd>[2] = (event) => {
    hasEvents = true;
    if (flags.stream) out.event(event);
  };
  try {
    return await followToEnd(session, agent.subscribe({ id }, call), onEvent);
  } catch (thrown) {
    if (hasEvents || A2AError.from(thrown).reason !== 'UNSUPPORTED_OPERATION') throw thrown;
    const task = await agent.getTask({ id }, call);
    if (!isTerminal(task.status.state)) throw thrown;
    onEvent({ kind: 'task', task });
    return task;
  }
}

/** Runs `dragoman task list`. */
export async function runTaskListCommand(command: Command, flags: TaskFlags): Promise<void> {
  await withAgent(command, async (session) => {
    const page = await fetchPages(session, flags);
    const { out } = session;
    if (out.isJson) {
      if (session.flags.stream) for (const task of page.tasks) out.json(v1_0.task.write(task));
      else out.json(v1_0.results.listTasks.write(page));
      return;
    }
    out.field('Total', page.totalSize);
    for (const task of page.tasks) printTask(session, task, flags);
    if (page.nextPageToken === '') return;
    out.gap();
    out.field('Next page', session.command(`task list --page-token ${quoteShellWord(page.nextPageToken)}`));
  });
}

function printTask(
  { out, flags: { verbose } }: ClientSession,
  task: Task,
  { artifacts, history }: TaskFlags,
): void {
  out.gap();
  if (artifacts || history !== undefined || verbose) {
    out.task(task);
    if (history !== undefined) out.history(task.history ?? []);
  } else {
    out.identity(task);
    out.field('Updated', task.status.timestamp);
  }
}

async function fetchPages({ agent, call }: ClientSession, flags: TaskFlags): Promise<TaskPage> {
  const { after } = flags;
  if (after !== undefined && Number.isNaN(Date.parse(after)))
    throw new UsageError(`Invalid time: ${after}`, 'Write it as 2026-01-31T12:00:00Z.');
  const { contextId, status, pageSize, pageToken, history: historyLength, artifacts } = flags;
  const statusTimestampAfter = after === undefined ? undefined : new Date(after).toISOString();
  const filters = { contextId, status, statusTimestampAfter, includeArtifacts: artifacts };
  const request: ListTasksRequest = { ...filters, pageSize, pageToken, historyLength };
  let page = await agent.listTasks(request, call);
  const seen = new Set<string>();
  while (flags.all && page.nextPageToken !== '' && !seen.has(page.nextPageToken)) {
    seen.add(page.nextPageToken);
    const next = await agent.listTasks({ ...request, pageToken: page.nextPageToken }, call);
    page = { ...next, tasks: [...page.tasks, ...next.tasks] };
  }
  return page;
}
