import type { MaybePromise } from '../primitives/maybe-promise.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Outage } from '../protocol/outage.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { ListTasksRequest, TaskPage } from '../protocol/requests.ts';
import type { Task, TaskState, TraceContext } from '../protocol/task.ts';
import type { StoreReplica } from './store-replica.ts';

/**
 * Append-only event log of one task.
 *
 * Appended events become visible to {@link TaskLog.task} and {@link TaskLog.subscribe} only after they are persisted, so
 * that a crash never takes back an event that a client has seen.
 */
export interface TaskLog {
  readonly owner: string;
  readonly id: string;
  readonly contextId: string;
  /** The newest sequence number, persisted or not. */
  readonly sequence: number;
  /** The newest state, persisted or not. */
  readonly state: TaskState;

  /**
   * Appends a change and assigns the next sequence number to it.
   *
   * @param expected - the newest sequence number that the caller knows (optimistic concurrency control).
   * @throws {@link A2AError} `CONFLICT` if the log has a newer sequence number than `expected`; `RESOURCE_EXHAUSTED` if
   * there is no room, but never for a short status.
   */
  append(change: TaskChange, expected?: number): number;

  /**
   * Waits until all appended events are persisted and visible.
   *
   * @returns undefined if they already are; otherwise a promise. It rejects if they could not be persisted: during an
   * outage of the store, which persists them later, because the log was abandoned, or with `CONFLICT` because another process
   * has become the writer of the task: they are discarded then.
   */
  whenPersisted(): PromiseLike<void> | undefined;

  /**
   * Called if the log is abandoned: its newest events could not be persisted and never will be. All later calls fail
   * with the error. Opening the task again returns a log with the persisted events.
   */
  onAbandoned?: ((log: TaskLog, error: A2AError) => void) | undefined;

  /**
   * Makes this process the only writer of the task, until {@link TaskLog.release} or until the process has ended. The log
   * of a task that this process creates or takes over is claimed already. Any other log that was opened must be claimed
   * before the first change, also in the process that created the task. Undefined in a task store of one process.
   *
   * @returns false if another process holds the task; the log then contains all of its events.
   */
  claim?(): MaybePromise<boolean>;

  /** Lets any process claim the task when all appended events are persisted. */
  release?(): void;

  /** Applies the events of other processes. Undefined in a task store of one process. */
  refresh?(): MaybePromise<void>;

  /** Returns the task with all visible events applied. The returned object is never mutated. */
  task(): Task;

  /**
   * Returns the events after a sequence number, then new ones, and ends when the task ends.
   * A snapshot of the task replaces events that are no longer stored.
   *
   * @param after - cursor: the last sequence number that the subscriber has; `'now'` starts with a snapshot.
   * @param isLast - ends the subscription after the first event for which it returns true.
   */
  subscribe(
    after: number | 'now',
    isLast?: (event: StreamEvent) => boolean,
  ): AsyncIterableIterator<StreamEvent>;
}

/** A task in state `submitted` or `working`. */
export interface UnfinishedTask {
  owner: string;
  id: string;
  /** Number of processes that ended without a shutdown while they held the task. */
  attempts?: number;
}

/** What a process asks the holder of a task to do. */
export type TaskCommand =
  | { kind: 'cancel' }
  /** `sequence` is the sequence number of the task to which the message replies, `trace` that of its request. */
  | { kind: 'message'; message: Message; sequence: number; trace?: TraceContext | undefined };

/** Delivery state of one webhook. Timestamps are in RFC 3339 format. */
export interface PushDeliveryState {
  /** The highest sequence number that was delivered or skipped. */
  delivered: number;
  /** Number of consecutive failed attempts. */
  attempts: number;
  /** Time of the first of these failures. */
  failingSince?: string;
  /** Message of the last error. */
  error?: string;
  /** Time of the next attempt. */
  retryAt?: string;
  /** Time at which it became a dead letter. Events after `delivered` are retained, so a manual retry continues there. */
  deadSince?: string;
}

/** A push configuration with outstanding deliveries. */
export interface PushDelivery {
  owner: string;
  config: PushConfig;
  state: PushDeliveryState;
  /** The newest sequence number of the task. */
  sequence: number;
  /** True if this process held the webhook before, so that it may deliver already. */
  isHeld?: boolean;
}

/** Use of a task store. */
export interface TaskStoreUsage {
  readonly tasks: number;
  /** Approximate size in memory. */
  readonly bytes: number;
  /** Number of finished tasks that were evicted to make room. */
  readonly evicted: number;
}

/**
 * Stores tasks and their events. Every entry belongs to an owner; an owner cannot see entries of another owner.
 *
 * Each method is one transaction: an event and the resulting task state are stored together.
 */
export interface TaskStore extends AsyncDisposable {
  /** True if other processes run tasks on the same store, so that an unfinished task may still have its agent. */
  readonly isShared?: boolean;
  /** True if {@link TaskStore.create} itself rejects messages that have started a task, so that no lookup is needed. */
  readonly rejectsKnownMessages?: boolean;
  /**
   * Reserves the store for the agent with this name. Undefined in a store that one process uses at a time.
   *
   * @throws {@link A2AError} `UNAVAILABLE` if the store belongs to another agent, whose clients would see the same tasks.
   */
  reserveFor?(name: string): MaybePromise<void>;
  /**
   * Returns the current outage, if the store cannot persist anything now. It retries by itself and persists the events
   * that were appended to existing tasks meanwhile; until then they are not visible. New tasks are rejected.
   */
  outage?(): Outage | undefined;
  /**
   * Creates a task. Its first event is the task itself, with sequence number 1.
   *
   * @param key - key of the request that started the task; see {@link TaskStore.findByKey}.
   * @throws {@link A2AError} `CONFLICT` if the owner has a task with this id, or, in a shared store, a task with the same
   * key: `details` contains its `taskId`. `RESOURCE_EXHAUSTED` if there is no room.
   */
  create(owner: string, task: Task, key?: string): MaybePromise<TaskLog>;
  open(owner: string, id: string): MaybePromise<TaskLog | undefined>;
  /** Returns the id of the task that was created with the key: an idempotency key or the id of its first message. */
  findByKey(owner: string, key: string): MaybePromise<string | undefined>;
  /** Lists the tasks of an owner, newest status first. Page tokens stay valid while tasks are added and changed. */
  list(owner: string, request: ListTasksRequest): MaybePromise<TaskPage>;
  /** Lists the tasks in state `submitted` or `working`: after a restart, those that need recovery. */
  listUnfinished(): MaybePromise<readonly UnfinishedTask[]>;
  /**
   * Leaves unfinished tasks to another process that shares the store, because this one ends. Their events must be
   * persisted.
   */
  handOver?(tasks: readonly UnfinishedTask[]): MaybePromise<void>;
  /**
   * Claims tasks that other processes handed over, and those of processes that have ended. A task is returned to one
   * process only; empty if there are none.
   */
  takeOver?(): MaybePromise<readonly UnfinishedTask[]>;
  /** Called when there may be tasks to take over. */
  onHandOver?: (() => void) | undefined;
  /**
   * Passes a command to the process that holds a task. Resolves after an event for which `isDone` returns true, at the
   * latest after a few seconds: the caller then reads the task and decides whether to try again.
   */
  command?(log: TaskLog, command: TaskCommand, isDone: (event: StreamEvent) => boolean): PromiseLike<void>;
  /** Called with commands for tasks that this process holds. A command may arrive twice, or never. */
  onCommand?: ((log: TaskLog, command: TaskCommand) => void) | undefined;
  /** Called with the number of evicted tasks after the first, the tenth, the hundredth, and so on. */
  onEvicted?: ((count: number) => void) | undefined;
  /**
   * Deletes tasks in a terminal state whose last status change is older. A task with undelivered notifications is kept
   * for up to 7 days more.
   *
   * @returns the number of deleted tasks.
   */
  expire(before: Date): MaybePromise<number>;

  /**
   * Creates or replaces a push configuration. A replaced one keeps its cursor; its error state is cleared.
   *
   * @param delivered - initial cursor of a new configuration: the last sequence number to skip. Default: 0.
   * @throws {@link A2AError} `TASK_NOT_FOUND`.
   */
  putPushConfig(owner: string, config: PushConfig, delivered?: number): MaybePromise<PushDeliveryState>;
  listPushConfigs(owner: string, taskId: string): MaybePromise<readonly PushConfig[]>;
  deletePushConfig(owner: string, taskId: string, id: string): MaybePromise<void>;
  /**
   * Stores the delivery state.
   *
   * @returns false if the configuration no longer exists, or if another process delivers to the webhook now. Any process may
   * retry a dead letter.
   */
  putDelivery(owner: string, taskId: string, id: string, state: PushDeliveryState): MaybePromise<boolean>;
  /** Lists configurations of all owners with a running task or outstanding deliveries, dead letters included. */
  listDeliveries(): MaybePromise<readonly PushDelivery[]>;
  /**
   * Claims webhooks of processes that have released them or have ended. A webhook is returned to one process only; empty if
   * there are none. Undefined in a store that does not assign webhooks to processes. The process that stores a push
   * configuration delivers to it.
   */
  takeOverDeliveries?(): MaybePromise<readonly PushDelivery[]>;
  /** Returns a push configuration if this process delivers to its webhook. */
  findHeldPushConfig?(owner: string, taskId: string, id: string): MaybePromise<PushConfig | undefined>;
  /** Leaves all webhooks of this process to others, because it ends. */
  releaseDeliveries?(): MaybePromise<void>;
  /** This process as a replica, for operators; undefined if the store has none. */
  readonly replica?: StoreReplica | undefined;
  /** Returns the use of the store, for metrics. */
  readonly usage?: () => TaskStoreUsage;
}
