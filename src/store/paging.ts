import { invalidField } from '../protocol/errors.ts';
import type { ListTasksRequest } from '../protocol/requests.ts';
import { type Task, limitHistory } from '../protocol/task.ts';

/** How many tasks a page has when nobody says. */
const defaultPageSize = 50;

/** The page size of a request, or a complaint. */
export function checkPageSize({ pageSize }: ListTasksRequest): number {
  if (pageSize === undefined) return defaultPageSize;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100)
    throw invalidField('pageSize', 'must be 1 to 100');
  return pageSize;
}

/** A page token: the place of the last task of the page before it. Opaque to callers. */
export function writePageToken(touched: number): string {
  return `p${touched.toString(36)}`;
}

/** The place that a page begins after: everything is before Infinity. */
export function readPageToken(token: string | undefined): number {
  if (token === undefined || token === '') return Number.POSITIVE_INFINITY;
  const touched = /^p[0-9a-z]{1,11}$/.test(token) ? Number.parseInt(token.slice(1), 36) : Number.NaN;
  if (!Number.isSafeInteger(touched))
    throw invalidField('pageToken', 'is not a token that this agent gave out');
  return touched;
}

/** The task as a list shows it: without artifacts unless they are asked for, and with as much history as is asked for. */
export function toListEntry(task: Task, { includeArtifacts, historyLength }: ListTasksRequest): Task {
  const shown = limitHistory(task, historyLength);
  if (includeArtifacts) return shown.artifacts ? shown : { ...shown, artifacts: [] };
  if (!shown.artifacts) return shown;
  const { artifacts: _omitted, ...rest } = shown;
  return rest;
}

/** The moment from which statuses are wanted, in milliseconds. */
export function parseStatusAfter({ statusTimestampAfter }: ListTasksRequest): number {
  if (statusTimestampAfter === undefined) return Number.NEGATIVE_INFINITY;
  const moment = Date.parse(statusTimestampAfter);
  if (Number.isNaN(moment))
    throw invalidField('statusTimestampAfter', 'must be a time such as 2026-06-01T10:00:00.000Z');
  return moment;
}
