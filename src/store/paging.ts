import { invalidField } from '../protocol/errors.ts';
import type { ListTasksRequest } from '../protocol/requests.ts';
import { type Task, limitHistory } from '../protocol/task.ts';

/** Page size if the request does not set one. */
const defaultPageSize = 50;

/** Returns the page size of a request. @throws {@link A2AError} if it is not between 1 and 100. */
export function checkPageSize({ pageSize }: ListTasksRequest): number {
  if (pageSize === undefined) return defaultPageSize;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100)
    throw invalidField('pageSize', 'must be an integer between 1 and 100');
  return pageSize;
}

/** Returns the list entry of a task: with the requested history, and with artifacts only if requested. */
export function toListEntry(task: Task, { includeArtifacts, historyLength }: ListTasksRequest): Task {
  const entry = limitHistory(task, historyLength);
  if (includeArtifacts) return entry.artifacts ? entry : { ...entry, artifacts: [] };
  if (!entry.artifacts) return entry;
  const { artifacts: _omitted, ...rest } = entry;
  return rest;
}

/** Returns the lower bound of the status timestamp in milliseconds, -Infinity if there is none. */
export function parseStatusAfter({ statusTimestampAfter }: ListTasksRequest): number {
  if (statusTimestampAfter === undefined) return Number.NEGATIVE_INFINITY;
  const milliseconds = Date.parse(statusTimestampAfter);
  if (Number.isNaN(milliseconds))
    throw invalidField('statusTimestampAfter', 'must be a timestamp such as 2026-06-01T10:00:00.000Z');
  return milliseconds;
}
