import type { Clock } from '../../primitives/clock.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { Lease } from './lease/lease.ts';

/** Resolved `SqliteTaskStoreOptions`. */
export interface SqliteTaskStoreSettings {
  now: () => number;
  maxCachedTasks: number;
  maxCachedBytes: number;
  maxTaskBytes: number;
  pollInterval: number;
  /** File that is watched for writes of other processes. */
  watched: string | undefined;
  busyTimeout: number;
  onOutage: ((error?: A2AError) => void) | undefined;
  onDamage: ((error: A2AError) => void) | undefined;
  clock: Clock;
  /** Undefined with `withoutLease`. */
  lease: Lease | undefined;
}
