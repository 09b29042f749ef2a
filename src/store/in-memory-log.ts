import type { MaybePromise } from '../primitives/maybe-promise.ts';
import { type A2AError, taskConflict } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { type TaskChange, TaskReducer } from '../protocol/reduce.ts';
import { isTerminal, type Task, type TaskState } from '../protocol/task.ts';
import { changeSize, taskSize } from './content-size.ts';
import { LogSubscription } from './log-subscription.ts';
import type { TaskLog } from './task-store.ts';

/** Storage operations that a driver provides for its logs. */
export interface LogBackend {
  /** Called before a change is appended. @throws {@link A2AError} if there is no room for `size` more bytes. */
  admit?(log: InMemoryTaskLog, change: TaskChange, size: number): void;
  /** Stores a change and calls {@link InMemoryTaskLog.publish}, now or later. */
  appended(log: InMemoryTaskLog, change: TaskChange): void;
  /** See {@link TaskLog.whenPersisted}. */
  whenPersisted(log: InMemoryTaskLog): Promise<void> | undefined;
  /** Returns stored changes that were evicted from memory, or undefined if they are no longer stored. */
  replay(log: InMemoryTaskLog, after: number): MaybePromise<readonly TaskChange[] | undefined>;
}

/**
 * The in-memory part of a task log: retained changes, the reduced task and waiting subscriptions. A driver stores the
 * changes and calls `publish()` after they are persisted.
 */
export class InMemoryTaskLog implements TaskLog {
  readonly owner: string;
  readonly id: string;
  readonly contextId: string;
  sequence: number;
  /** The newest sequence number that subscribers may see. */
  visible: number;
  state: TaskState;
  /** Generation of the newest state; undefined if the task has none. */
  #generation: number | undefined;
  /** Approximate memory use of the task and its changes, in bytes. */
  bytes: number;
  #backend: LogBackend;
  #reducer: TaskReducer;
  /** The retained changes. The first one has the sequence number `#first`. */
  #changes: TaskChange[];
  #first: number;
  /** The newest sequence number that the reducer has applied. */
  #appliedUpTo: number;
  /** Waiting subscriptions, as an intrusive linked list: it uses no memory while there are none. */
  #waiting: LogSubscription | undefined = undefined;
  /** The visible task, while the reducer is ahead of it. */
  #visibleTask: Task | undefined = undefined;
  #error: A2AError | undefined = undefined;
  onAbandoned: TaskLog['onAbandoned'] = undefined;

  /**
   * @param sequence - the sequence number of the last event in `task`; if undefined, the task is new and becomes the
   * first event.
   */
  constructor(backend: LogBackend, owner: string, task: Task, sequence?: number) {
    this.#backend = backend;
    this.owner = owner;
    this.id = task.id;
    this.contextId = task.contextId;
    this.sequence = sequence ?? 1;
    this.visible = this.sequence;
    this.#appliedUpTo = this.sequence;
    this.state = task.status.state;
    this.#generation = task.generation;
    this.bytes = sequence === undefined ? taskSize(task) : 0;
    this.#reducer = new TaskReducer(task);
    this.#changes = sequence === undefined ? [{ kind: 'task', task, sequence: 1 }] : [];
    this.#first = this.sequence + 1 - this.#changes.length;
  }

  append(change: TaskChange, expected?: number): number {
    if (this.#error) throw this.#error;
    if (expected !== undefined && expected !== this.sequence) {
      throw taskConflict(this.id);
    }
    const size = changeSize(change);
    this.#backend.admit?.(this, change, size);
    this.#add(change);
    this.bytes += size;
    this.#backend.appended(this, change);
    return this.sequence;
  }

  /** Adds and publishes changes that another process has stored. */
  receive(changes: readonly TaskChange[]): void {
    for (const change of changes) this.#add(change);
    this.publish();
  }

  #add(change: TaskChange): void {
    change.sequence = ++this.sequence;
    // Most tasks have few changes; push() would reserve capacity for many.
    if (this.#changes.length < 4) this.#changes = withAppended(this.#changes, change);
    else this.#changes.push(change);
    if (change.kind === 'status') this.state = change.status.state;
    else if (change.kind === 'task') this.state = change.task.status.state;
    if (this.#generation !== undefined) this.#generation = withGeneration(change, this.#generation);
  }

  whenPersisted(): Promise<void> | undefined {
    return this.#error ? Promise.reject(this.#error) : this.#backend.whenPersisted(this);
  }

  task(): Task {
    return this.#visibleTask ?? this.#reducer.task();
  }

  subscribe(after: number | 'now', isLast?: (event: StreamEvent) => boolean): LogSubscription {
    return new LogSubscription(this, after, isLast);
  }

  /** Applies appended changes without publishing them, so that a driver can store the result as a snapshot. */
  reducePending(): Task {
    this.#visibleTask ??= this.#reducer.task();
    this.#advance(this.sequence);
    return this.#reducer.task();
  }

  /** Makes appended changes visible, by default all of them, and wakes the subscriptions. */
  publish(upTo = this.sequence): void {
    this.#advance(upTo);
    this.#visibleTask = undefined;
    this.visible = upTo;
    if (this.#waiting) this.#wake();
  }

  /**
   * Discards all changes that are not visible, because another process has become the writer of the task. Subscriptions
   * continue with the changes of that process; see {@link InMemoryTaskLog.receive}.
   */
  discardPending(): void {
    const task = this.task();
    this.#changes.length = Math.min(this.#changes.length, Math.max(0, this.visible - this.#first + 1));
    this.#visibleTask = undefined;
    this.#reducer = new TaskReducer(task);
    this.#appliedUpTo = this.visible;
    this.sequence = this.visible;
    this.state = task.status.state;
    this.#generation = task.generation;
  }

  /**
   * Abandons the log because its changes could not be stored. They never become visible; subscriptions and all later
   * calls fail with the error.
   */
  abandon(error: A2AError): void {
    this.#error = error;
    this.#wake();
  }

  /** The error with which the log was abandoned, if it was. */
  get error(): A2AError | undefined {
    return this.#error;
  }

  get hasWaitingSubscriptions(): boolean {
    return this.#waiting !== undefined;
  }

  #wake(): void {
    let subscription = this.#waiting;
    this.#waiting = undefined;
    while (subscription) {
      const next: LogSubscription | undefined = subscription.nextWaiting;
      subscription.nextWaiting = undefined;
      subscription.previousWaiting = undefined;
      subscription.isWaiting = false;
      subscription.wake();
      subscription = next;
    }
  }

  #advance(to: number): void {
    while (this.#appliedUpTo < to) {
      this.#appliedUpTo++;
      const change = this.#changes[this.#appliedUpTo - this.#first];
      if (change) this.#reducer.apply(change);
    }
  }

  /** True if no further event can become visible. */
  get isFinished(): boolean {
    return this.visible === this.sequence && isTerminal(this.state);
  }

  get retainedCount(): number {
    return this.#changes.length;
  }

  /** Evicts the oldest visible changes from memory, except for the newest `retain`. */
  trim(retain: number): void {
    const evicted = Math.min(this.#changes.length - retain, this.visible - this.#first + 1);
    if (evicted <= 0) return;
    this.#changes.splice(0, evicted);
    this.#first += evicted;
  }

  /** Returns the visible change with a sequence number, if it is in memory. */
  at(sequence: number): TaskChange | undefined {
    return sequence > this.visible ? undefined : this.#changes[sequence - this.#first];
  }

  /** Returns true if all changes after a sequence number are in memory. */
  has(after: number): boolean {
    return after >= this.#first - 1;
  }

  /** See {@link LogBackend.replay}. */
  replay(after: number): MaybePromise<readonly TaskChange[] | undefined> {
    return this.#backend.replay(this, after);
  }

  /** Adds a subscription to the waiting list; the next `publish()` wakes it. */
  wait(subscription: LogSubscription): void {
    subscription.isWaiting = true;
    subscription.nextWaiting = this.#waiting;
    if (this.#waiting) this.#waiting.previousWaiting = subscription;
    this.#waiting = subscription;
  }

  /** Removes a subscription from the waiting list. */
  stopWaiting(subscription: LogSubscription): void {
    if (!subscription.isWaiting) return;
    subscription.isWaiting = false;
    if (this.#waiting === subscription) this.#waiting = subscription.nextWaiting;
    if (subscription.previousWaiting) subscription.previousWaiting.nextWaiting = subscription.nextWaiting;
    if (subscription.nextWaiting) subscription.nextWaiting.previousWaiting = subscription.previousWaiting;
    subscription.nextWaiting = undefined;
    subscription.previousWaiting = undefined;
  }
}

/** Gives a change the next generation, unless it is a message of the user. @returns the generation after the change */
function withGeneration(change: TaskChange, before: number): number {
  if (change.kind === 'input' || change.kind === 'message') return before;
  const generation = before + 1;
  if (change.kind === 'task') change.task = { ...change.task, generation };
  else change.generation = generation;
  return generation;
}

/** Appends to a list of up to three changes without spare capacity. Written out because `concat` takes three times as long. */
function withAppended(changes: TaskChange[], change: TaskChange): TaskChange[] {
  const a = changes[0];
  const b = changes[1];
  const c = changes[2];
  if (!a) return [change];
  if (!b) return [a, change];
  return c ? [a, b, c, change] : [a, b, change];
}
