import { jsonSize } from '../../primitives/json.ts';
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
    const page = await list(wanted);
    const wire = results.listTasks.write(page) as { tasks: readonly unknown[] } | unknown[];
    // A list of 0.3 has no page token, so a shortened one would lose tasks.
    if (Array.isArray(wire) || attempt === maxAttempts || isSmall(page, maxBytes))
      return JSON.stringify(wire);
    const count = countWithin(wire.tasks, maxBytes);
    if (count === wire.tasks.length) return JSON.stringify(wire);
    wanted = { ...request, pageSize: count };
  }
}

/** Returns true if the JSON is below `maxBytes`, also if every character must be escaped. */
function isSmall({ tasks }: TaskPage, maxBytes: number): boolean {
  let size = 0;
  for (const task of tasks) if ((size += 6 * jsonSize(task)) > maxBytes) return false;
  return true;
}

/** Returns how many tasks fit into `maxBytes` of JSON, at least one. */
function countWithin(tasks: readonly unknown[], maxBytes: number): number {
  let size = 0;
  for (const [index, task] of tasks.entries()) {
    size += JSON.stringify(task).length;
    if (size > maxBytes && index > 0) return index;
  }
  return tasks.length;
}
