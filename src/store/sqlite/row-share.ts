import { isTerminal } from '../../protocol/task.ts';
import { encodeColumn } from '../durable/column-encoding.ts';
import type { DurableTaskLog } from '../durable/durable-task-log.ts';
import { serializeChanges } from '../durable/stored-changes.ts';
import type { SqlValue } from './database.ts';

/** Minimum size of changes, in characters, before a snapshot is rewritten. */
const minChangesSize = 4_096;

/** Contribution of one log to a commit: a row of tasks, and rows of events. */
export interface RowShare {
  log: DurableTaskLog;
  touched: number;
  changedAt: number;
  changes: string;
  snapshot: string | undefined;
}

/** Serializes the pending changes of a log. */
export function buildRowShare(log: DurableTaskLog, changedAt: number): RowShare {
  const { stored, pending } = log;
  const changes = pending.length > 0 ? serializeChanges(pending) : '';
  const isLong = log.changesSize + changes.length > Math.max(log.snapshotSize, minChangesSize);
  // The first commit of a task contains the whole task, so that a short one needs no snapshot.
  const isDue = stored.row === 0 ? isLong && isTerminal(log.state) : isLong || isTerminal(log.state);
  return {
    log,
    touched: stored.touched,
    changedAt: log.hasStatusChange ? changedAt : stored.changedAt,
    changes,
    snapshot: isDue ? JSON.stringify(log.reducePending()) : undefined,
  };
}

/** Appends the row of a task to a list of values. */
export function pushTaskRow({ log, touched, changedAt, snapshot }: RowShare, values: SqlValue[]): void {
  const { stored } = log;
  values.push(
    stored.row || touched,
    log.ownerRow,
    encodeColumn(log.id),
    encodeColumn(log.contextId),
    stored.messageId === null ? null : encodeColumn(stored.messageId),
    log.state,
    touched,
    changedAt,
    log.sequence,
    stored.sequence,
    snapshot === undefined ? stored.snapshotAt : log.sequence,
  );
}

/** Records in the log which part of it is now on disk. */
export function recordRowShare({ log, touched, changedAt, changes, snapshot }: RowShare): void {
  const { stored } = log;
  const isNew = stored.row === 0;
  stored.row ||= touched;
  stored.state = log.state;
  stored.touched = touched;
  stored.changedAt = changedAt;
  stored.sequence = log.sequence;
  if (isNew) log.snapshotSize = changes.length;
  else log.changesSize += changes.length;
  if (snapshot === undefined) return;
  stored.snapshotAt = log.sequence;
  log.snapshotSize = snapshot.length;
  log.changesSize = 0;
}
