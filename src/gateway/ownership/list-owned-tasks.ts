import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';

/** Maximum number of upstream pages that one request reads. A page with fewer tasks than requested has a next page. */
const maxUpstreamPages = 20;

/** Access of {@link listOwnedTasks} to the tasks of the upstream and their owners. */
export interface OwnedTaskSource {
  list(request: ListTasksRequest): Promise<TaskPage>;
  owns(task: Task): Promise<boolean>;
  /** Counts the tasks of the owner without the filters of status and time. */
  count(): MaybePromise<number>;
}

/** Page of the upstream, and the last task of it that an earlier response contained. */
interface Position {
  readonly pageToken: string;
  readonly after: string;
}

/** Returns one page of the tasks of an owner. Reads pages of the upstream until it is full. */
export async function listOwnedTasks(request: ListTasksRequest, source: OwnedTaskSource): Promise<TaskPage> {
  const { pageToken: token, ...filters } = request;
  const pageSize = request.pageSize ?? 50;
  const tasks: Task[] = [];
  let position: Position | undefined = token ? readToken(token) : { pageToken: '', after: '' };
  for (let pages = 0; position && tasks.length < pageSize && pages < maxUpstreamPages; pages++)
    position = await readPage(filters, position, { source, tasks, pageSize });
  const isComplete = !token && !position;
  return {
    tasks,
    nextPageToken: position ? writeToken(position) : '',
    pageSize,
    totalSize: isComplete ? tasks.length : await source.count(),
  };
}

/** Appends the tasks of one upstream page. @returns where to continue; undefined at the end */
async function readPage(
  filters: ListTasksRequest,
  { pageToken, after }: Position,
  { source, tasks, pageSize }: { source: OwnedTaskSource; tasks: Task[]; pageSize: number },
): Promise<Position | undefined> {
  const page = await source.list({ ...filters, ...(pageToken !== '' && { pageToken }) });
  const next = page.nextPageToken === '' ? undefined : { pageToken: page.nextPageToken, after: '' };
  // If the task has moved to another page, tasks may be repeated, but none is left out.
  const rest = page.tasks.slice(page.tasks.findIndex(({ id }) => id === after) + 1);
  for (const [i, task] of rest.entries()) {
    if (!(await source.owns(task))) continue;
    tasks.push(task);
    if (tasks.length < pageSize) continue;
    return i === rest.length - 1 ? next : { pageToken, after: task.id };
  }
  return next;
}

function writeToken({ pageToken, after }: Position): string {
  return Buffer.from(JSON.stringify([pageToken, after])).toString('base64url');
}

function readToken(token: string): Position {
  const parsed = parseJsonOrUndefined(Buffer.from(token, 'base64url').toString());
  const [pageToken, after] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
  if (typeof pageToken !== 'string' || typeof after !== 'string')
    throw invalidField('pageToken', 'must be the nextPageToken of an earlier response');
  return { pageToken, after };
}
