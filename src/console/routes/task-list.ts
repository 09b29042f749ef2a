import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { TaskListPage } from '../console-api.ts';

/** Number of tasks after which no further page is read. */
const wantedTasks = 25;
/** Number of tasks per request to the agent, the maximum of A2A. */
const pageSize = 100;
/** Maximum number of requests to the agent. */
const maxPages = 100;

/**
 * Reads pages of an agent until enough tasks are left without those of tests.
 *
 * @param readPage - reads one page; `isFirst` is false for the pages that only follow because tasks were left out.
 */
export async function listWithoutTests(
  readPage: (request: ListTasksRequest, isFirst: boolean) => Promise<TaskPage>,
  request: ListTasksRequest,
  isTestTask: (id: string) => boolean,
): Promise<TaskListPage> {
  const tasks: TaskPage['tasks'] = [];
  let hiddenCount = 0;
  let { pageToken } = request;
  for (let read = 1; ; read++) {
    const page = await readPage(
      { ...request, pageSize, ...(pageToken !== undefined && { pageToken }) },
      read === 1,
    );
    const kept = page.tasks.filter(({ id }) => !isTestTask(id));
    tasks.push(...kept);
    hiddenCount += page.tasks.length - kept.length;
    if (page.nextPageToken === '' || tasks.length >= wantedTasks || read === maxPages)
      return { ...page, tasks, hiddenCount };
    pageToken = page.nextPageToken;
  }
}
