import type { Database, SqlRow } from '../database.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Returns all recorded leases, oldest first. */
export function readHolders(database: Database): readonly SqlRow[] {
  return database.prepare('select * from lease order by since').all([]);
}

export function isSharedLease(holder: SqlRow): boolean {
  return Number(holder['shared']) === 1;
}

/** Returns true if the pid of the holder is valid in this process: same host, same PID namespace. */
export function isSamePidNamespace(holder: SqlRow, self: ProcessIdentity): boolean {
  return holder['host'] === self.host && holder['pid_namespace'] === self.pidNamespace;
}

/** Returns whether the process of a lease has ended; undefined if this process cannot know. */
export function hasProcessEnded(holder: SqlRow, self: ProcessIdentity): boolean | undefined {
  if (!isSamePidNamespace(holder, self)) return undefined;
  const pid = Number(holder['pid']);
  // The same pid, but older than this process: the pid was reused, as in a container that restarts.
  return !self.isAlive(pid) || (pid === self.pid && Number(holder['since']) < self.startedAt);
}
