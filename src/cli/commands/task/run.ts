import type { Command } from 'commander';
import { v1_0 } from '../../../dialects/v1_0/index.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { ListTasksRequest, TaskPage } from '../../../protocol/requests.ts';
import { isTask, isTerminal, type Task, type TaskState } from '../../../protocol/task.ts';
import { ClientError } from '../../client/client-error.ts';
import { type ClientSession, quoteShellWord, withAgent } from '../../client/session.ts';
import { followToEnd, pollToEnd, printOutcome } from '../../client/wait.ts';

/** What the commands about tasks are told beside the flags of every connection. */
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

/** Shows a task; waits for it first if that is wanted. */
export async function runTaskGetCommand(command: Command, id: string, { history }: TaskFlags): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, flags, out } = session;
    session.taskId = id;
    const asked = await agent.getTask({ id, ...(history !== undefined && { historyLength: history }) }, call);
    const task = flags.wait === true ? await pollToEnd(session, asked, history) : asked;
    out.task(task);
    if (!out.isJson && history !== undefined) out.history(task.history ?? []);
    printOutcome(session, task);
  });
}

/** Ends a task. */
export async function runTaskCancelCommand(command: Command, id: string): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, flags, out } = session;
    session.taskId = id;
    const request = { id, ...(flags.metadata && { metadata: flags.metadata }) };
    out.task(await agent.cancelTask(request, call).catch((thrown) => canceledBefore(session, id, thrown)));
    out.end();
  });
}

/** To end a task twice is the same as to end it once. */
async function canceledBefore({ agent, call }: ClientSession, id: string, thrown: unknown): Promise<Task> {
  if (A2AError.from(thrown).reason !== 'TASK_NOT_CANCELABLE') throw thrown;
  const task = await agent.getTask({ id }, call);
  if (task.status.state !== 'canceled') throw thrown;
  return task;
}

/** Follows a task. */
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
    const answer = await subscribed(session, id);
    if (!flags.stream && isTask(answer)) out.task(answer);
    printOutcome(session, answer);
  });
}

/** A task that is over cannot be followed, but it can be shown. */
async function subscribed(session: ClientSession, id: string): ReturnType<typeof followToEnd> {
  const { agent, call, flags, out } = session;
  let hasBegun = false;
  const tell: Parameters<typeof followToEnd>[2] = (event) => {
    hasBegun = true;
    if (flags.stream) out.event(event);
  };
  try {
    return await followToEnd(session, agent.subscribe({ id }, call), tell);
  } catch (thrown) {
    if (hasBegun || A2AError.from(thrown).reason !== 'UNSUPPORTED_OPERATION') throw thrown;
    const task = await agent.getTask({ id }, call);
    if (!isTerminal(task.status.state)) throw thrown;
    tell({ kind: 'task', task });
    return task;
  }
}

/** Lists tasks. */
export async function runTaskListCommand(command: Command, flags: TaskFlags): Promise<void> {
  await withAgent(command, async (session) => {
    const page = await pages(session, flags);
    const { out } = session;
    if (out.isJson) {
      if (session.flags.stream) for (const task of page.tasks) out.json(v1_0.task.write(task));
      else out.json(v1_0.results.listTasks.write(page));
      return;
    }
    out.field('Total', page.totalSize);
    for (const task of page.tasks) tellTask(session, task, flags);
    if (page.nextPageToken === '') return;
    out.gap();
    out.field('Next page', session.command(`task list --page-token ${quoteShellWord(page.nextPageToken)}`));
  });
}

function tellTask(
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

async function pages({ agent, call }: ClientSession, flags: TaskFlags): Promise<TaskPage> {
  const { after } = flags;
  if (after !== undefined && Number.isNaN(Date.parse(after)))
    throw new ClientError('A2ACLI_ERR_USAGE', '--after is no time', 'Write it as 2026-01-31T12:00:00Z.');
  const request: ListTasksRequest = {
    ...(flags.contextId !== undefined && { contextId: flags.contextId }),
    ...(flags.status !== undefined && { status: flags.status }),
    ...(flags.pageSize !== undefined && { pageSize: flags.pageSize }),
    ...(flags.history !== undefined && { historyLength: flags.history }),
    ...(after !== undefined && { statusTimestampAfter: new Date(after).toISOString() }),
    ...(flags.artifacts && { includeArtifacts: true }),
    ...(flags.pageToken !== undefined && { pageToken: flags.pageToken }),
  };
  let page = await agent.listTasks(request, call);
  const seen = new Set<string>();
  while (flags.all && page.nextPageToken !== '' && !seen.has(page.nextPageToken)) {
    seen.add(page.nextPageToken);
    const next = await agent.listTasks({ ...request, pageToken: page.nextPageToken }, call);
    page = { ...next, tasks: [...page.tasks, ...next.tasks] };
  }
  return page;
}
