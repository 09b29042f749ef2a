import type { Clock } from '../../primitives/clock.ts';
import type { A2AError } from '../../protocol/errors.ts';

/** Resolved `PostgresTaskStoreOptions`. */
export interface PostgresTaskStoreSettings {
  readonly schema: string;
  readonly channel: string;
  readonly pageTokenKey: string;
  readonly replicaName: string;
  readonly version: string;
  readonly lease: number;
  readonly pollInterval: number;
  readonly useWakeUps: boolean;
  readonly withoutLease: boolean;
  readonly maxCachedTasks: number;
  readonly maxCachedBytes: number;
  readonly maxTaskBytes: number;
  readonly now: () => number;
  readonly clock: Clock;
  readonly onOutage: ((error?: A2AError) => void) | undefined;
  readonly onWakeUps: ((isActive: boolean) => void) | undefined;
  reserveFor(name: string): Promise<void>;
  close(): Promise<void>;
}
