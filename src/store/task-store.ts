import type { StreamEvent } from '../protocol/event.ts';
import type { PushConfig } from '../protocol/push.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { ListTasksRequest, TaskPage } from '../protocol/requests.ts';
import type { Task, TaskState } from '../protocol/task.ts';

/** A value at once where the driver has it at hand, a promise where it has to ask for it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * The log of one task: what happened to it, in order, and what that amounts to.
 *
 * What is appended becomes visible to {@link TaskLog.task} and {@link TaskLog.subscribe} only once it is stored, so that
 * nobody is ever shown what a crash could take back.
 */
export interface TaskLog {
  readonly owner: string;
  readonly id: string;
  readonly contextId: string;
  /** The newest sequence number, stored or not. */
  readonly sequence: number;
  /** The newest state, stored or not. */
  readonly state: TaskState;

  /**
   * Appends a change and gives it the next sequence number.
   *
   * @param expected - the sequence number the caller believes to be the newest.
   * @throws {@link A2AError} `CONFLICT` when somebody else appended meanwhile.
   */
  append(change: TaskChange, expected?: number): number;

  /**
   * Waits until everything appended so far is stored and visible.
   *
   * @returns undefined when it is already; a promise that rejects when it could not be stored.
   */
  whenPersisted(): Promise<void> | undefined;

  /** The task as it stands, of what is visible. It is never changed afterwards. */
  task(): Task;

  /**
   * Gives every event after a sequence number, then those to come, and ends with the task.
   * Where the events are gone, the task as it stands comes in their place.
   *
   * @param after - the last sequence number that is not wanted any more; `'now'` begins with the task as it stands.
   * @param isLast - ends the following after the first event of which it is true.
   */
  subscribe(
    after: number | 'now',
    isLast?: (event: StreamEvent) => boolean,
  ): AsyncIterableIterator<StreamEvent>;
}

/** A task that was not finished when the ledger was opened. */
export interface UnfinishedTask {
  owner: string;
  id: string;
}

/** How far the news of a task got on their way to one webhook. */
export interface PushDeliveryState {
  /** The last sequence number that arrived, or that nobody waits for. */
  delivered: number;
  /** How often in a row the next one failed. */
  attempts: number;
  /** When it failed first, like all moments here in RFC 3339. */
  failingSince?: string;
  /** What went wrong last, for people. */
  error?: string;
  /** When it is tried again. */
  retryAt?: string;
  /** When it was given up. What is after `delivered` is kept, and a retry goes on from there. */
  deadSince?: string;
}

/** A push configuration that has not got everything yet. */
export interface PushDelivery {
  owner: string;
  config: PushConfig;
  state: PushDeliveryState;
  /** The newest sequence number of its task. */
  sequence: number;
}

/**
 * Where tasks are kept. Everything has an owner, and nothing of one owner exists for another.
 *
 * One port is one transaction: an event and what it makes of the task are stored together.
 */
export interface TaskStore extends AsyncDisposable {
  /** True when other processes run tasks on it too, so that one that is running need not have lost its agent. */
  readonly isShared?: boolean;
  /**
   * Makes a task, whose first event is the task itself with sequence number 1.
   *
   * @param messageId - the message that asked for it, to be found again by {@link TaskStore.findByMessageId}.
   * @throws {@link A2AError} `CONFLICT` when the owner has a task of that id.
   */
  create(owner: string, task: Task, messageId?: string): MaybePromise<TaskLog>;
  open(owner: string, id: string): MaybePromise<TaskLog | undefined>;
  /** Gives the id of the task that a message of this owner made. */
  findByMessageId(owner: string, messageId: string): MaybePromise<string | undefined>;
  /** Lists the tasks of an owner, newest status first; page tokens stay good while tasks come and change. */
  list(owner: string, request: ListTasksRequest): MaybePromise<TaskPage>;
  /** Gives the tasks that are submitted or working: after a restart, those that lost their agent. */
  listUnfinished(): MaybePromise<readonly UnfinishedTask[]>;
  /** Forgets finished tasks whose last status is older. @returns how many. */
  expire(before: Date): MaybePromise<number>;

  /**
   * Puts a configuration, or replaces the one of the same id, which keeps its place and what arrived and is no longer
   * in trouble.
   *
   * @param delivered - the last sequence number that a new one need not be told of; 0 unless given.
   * @throws {@link A2AError} `TASK_NOT_FOUND`.
   */
  putPushConfig(owner: string, config: PushConfig, delivered?: number): MaybePromise<PushDeliveryState>;
  listPushConfigs(owner: string, taskId: string): MaybePromise<readonly PushConfig[]>;
  deletePushConfig(owner: string, taskId: string, id: string): MaybePromise<void>;
  /** Notes how far the news got. @returns false when there is no such configuration any more. */
  putDelivery(owner: string, taskId: string, id: string, state: PushDeliveryState): MaybePromise<boolean>;
  /** Gives the configurations of all owners whose task goes on, or that have not got all of it, dead or not. */
  listDeliveries(): MaybePromise<readonly PushDelivery[]>;
}
