import type { Dialect } from '../../dialects/dialect.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';

/** Attempts to find a page below the limit; tasks may grow meanwhile. */
const maxAttempts = 3;

/**
 * Lists tasks and returns the JSON of the page. A page above `maxBytes` is requested again with fewer tasks, so that its
 * page token continues after them. One task is returned regardless of its size.
 */
export async function listPage(
  list: (request: ListTasksRequest) => Promise<TaskPage>,
  request: ListTasksRequest,
  { results }: Dialect,
  maxBytes: number,
): Promise<string> {
  let wanted = request;
  for (let attempt = 1; ; attempt++) {
    const wire = results.listTasks.write(await list(wanted)) as { tasks: readonly unknown[] } | unknown[];
    // A list of 0.3 has no page token, so a shortened one would lose tasks.
    if (Array.isArray(wire)) return JSON.stringify(wire);
    const texts: string[] = [];
    let size = 0;
    for (const task of wire.tasks) {
      const text = JSON.stringify(task);
      size += text.length;
      if (size > maxBytes && texts.length > 0 && attempt < maxAttempts) break;
      texts.push(text);
    }
    if (texts.length === wire.tasks.length)
      return JSON.stringify({ ...wire, tasks: [] }).replace(
        '"tasks":[]',
        () => `"tasks":[${texts.join(',')}]`,
      );
    wanted = { ...request, pageSize: texts.length };
  }
}
