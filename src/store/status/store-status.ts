import type { StoreUrl } from '../url/parse-store-url.ts';

/** A process that uses a store. */
export interface ReplicaStatus {
  readonly name: string;
  /** Version of Dragoman; undefined if it is not stored. */
  readonly version: string | undefined;
  /** RFC 3339. */
  readonly since: string;
  /** Milliseconds since its last heartbeat. */
  readonly heartbeatAge: number;
  /** Milliseconds without a heartbeat after which others take its tasks over. */
  readonly lease: number;
  readonly isAlive: boolean;
  /** Unfinished tasks that it holds. */
  readonly heldTasks: number;
}

/** State of a store for its operator. */
export interface StoreStatus {
  readonly schemaVersion: number;
  readonly replicas: readonly ReplicaStatus[];
  /** Number of tasks by state. */
  readonly tasks: { readonly [state: string]: number };
  /** Tasks in state `submitted` or `working` that no live replica holds. */
  readonly orphanedTasks: number;
  readonly push: {
    /** Webhooks of running tasks, and those with undelivered notifications. */
    readonly webhooks: number;
    readonly undelivered: number;
    /** Webhooks whose delivery was abandoned. */
    readonly dead: number;
  };
}

/**
 * Reads the state of a store without changing it.
 *
 * @throws {@link A2AError} if it does not exist, cannot be read, or was created by another version.
 */
export async function readStoreStatus(url: Exclude<StoreUrl, { kind: 'memory' }>): Promise<StoreStatus> {
  return url.kind === 'postgres'
    ? (await import('./postgres-status.ts')).readPostgresStatus(url)
    : (await import('./sqlite-status.ts')).readSqliteStatus(url.file);
}
