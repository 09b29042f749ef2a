import type { ReplicaEvent } from '../metrics/replica-metrics.ts';

/** The replica that holds a task. */
export interface TaskHolder {
  readonly owner: string;
  /** Name of the replica; undefined if no replica holds the task. */
  readonly replica: string | undefined;
  /** False if the lease of the replica has ended, so that another one takes the task over. */
  readonly isAlive: boolean;
}

/** This process as one of the replicas that share a task store. */
export interface StoreReplica {
  /** Returns the number of unfinished tasks that this replica holds. */
  heldTasks(): number;
  /** Returns one word per part that the store depends on, such as `{ database: 'connected', wakeUps: 'polling' }`. */
  checks(): { readonly [part: string]: string };
  /** Returns the holders of the tasks with an id, one per owner that has such a task. */
  findHolders(taskId: string): Promise<readonly TaskHolder[]>;
  /** Called with everything that happens, for metrics. */
  onEvent?: ((event: ReplicaEvent) => void) | undefined;
}
