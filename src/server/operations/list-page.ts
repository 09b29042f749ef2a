import { type Dialect, serializeResult } from '../../dialects/dialect.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';

/** Attempts to find a page below the limit; tasks may grow meanwhile. */
const maxAttempts = 3;

/** Beginning of the JSON of a page. */
const pageStart = '{"tasks":[';

/**
 * Lists tasks and returns the JSON of the page. A page above `maxBytes` is requested again with fewer tasks, so that its
 * page token continues after them. One task is returned regardless of its size.
 */
export async function listPage(
  list: (request: ListTasksRequest) => Promise<TaskPage>,
  request: ListTasksRequest,
  dialect: Dialect,
  maxBytes: number,
): Promise<string> {
  const { results, texts } = dialect;
  const serialize =
    texts?.task ?? ((task: Task) => serializeResult(dialect, 'getTask', results.getTask.write(task)));
  let wanted = request;
  for (let attempt = 1; ; attempt++) {
    const page = await list(wanted);
    const withoutTasks = JSON.stringify(results.listTasks.write({ ...page, tasks: [] }));
    // A list of 0.3 has no page token, so a shortened one would lose tasks.
    if (!withoutTasks.startsWith(pageStart))
      return serializeResult(dialect, 'listTasks', results.listTasks.write(page));
    let text = '';
    let count = 0;
    for (const task of page.tasks) {
      const next = serialize(task);
      if (text.length + next.length > maxBytes && count > 0 && attempt < maxAttempts) break;
      text += count++ === 0 ? next : `,${next}`;
    }
    if (count === page.tasks.length)
      return dialect.serialize
        ? serializeResult(dialect, 'listTasks', results.listTasks.write(page))
        : `${pageStart}${text}${withoutTasks.slice(pageStart.length)}`;
    wanted = { ...request, pageSize: count };
  }
}
