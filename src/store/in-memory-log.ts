import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { type TaskChange, TaskReducer } from '../protocol/reduce.ts';
import { isTerminal, type Task, type TaskState } from '../protocol/task.ts';
import { LogSubscription } from './log-subscription.ts';
import type { MaybePromise, TaskLog } from './task-store.ts';

/** What a driver does for its logs. */
export interface LogBackend {
  /** Stores a change and, sooner or later, calls {@link InMemoryTaskLog.publish}. */
  appended(log: InMemoryTaskLog, change: TaskChange): void;
  /** See {@link TaskLog.whenPersisted}. */
  settled(log: InMemoryTaskLog): Promise<void> | undefined;
  /** Gives stored changes after a sequence number that are no longer in memory, or undefined if they are gone. */
  replay(log: InMemoryTaskLog, after: number): MaybePromise<readonly TaskChange[] | undefined>;
}

/**
 * A log in memory: the changes that are kept, what they amount to, and who follows. Drivers keep it and say when a
 * change is stored.
 */
export class InMemoryTaskLog implements TaskLog {
  readonly owner: string;
  readonly id: string;
  readonly contextId: string;
  sequence: number;
  /** The newest sequence number that anybody may see. */
  visible: number;
  state: TaskState;
  #keeper: LogBackend;
  #fold: TaskReducer;
  /** The changes kept; the first one has the sequence number `#first`. */
  #changes: TaskChange[];
  #first: number;
  /** The newest sequence number that is part of the fold. */
  #folded: number;
  /** The followers that wait, as a list linked through themselves: it costs nothing while nobody waits. */
  #waiting: LogSubscription | undefined = undefined;
  /** The visible task, while the fold is ahead of it. */
  #shown: Task | undefined = undefined;
  #fault: A2AError | undefined = undefined;

  /**
   * @param sequence - the sequence number at which `task` stands; without one the task is new, and is its own first
   * event.
   */
  constructor(keeper: LogBackend, owner: string, task: Task, sequence?: number) {
    this.#keeper = keeper;
    this.owner = owner;
    this.id = task.id;
    this.contextId = task.contextId;
    this.sequence = sequence ?? 1;
    this.visible = this.sequence;
    this.#folded = this.sequence;
    this.state = task.status.state;
    this.#fold = new TaskReducer(task);
    this.#changes = sequence === undefined ? [{ kind: 'task', task, sequence: 1 }] : [];
    this.#first = this.sequence + 1 - this.#changes.length;
  }

  append(change: TaskChange, expected?: number): number {
    if (this.#fault) throw this.#fault;
    if (expected !== undefined && expected !== this.sequence) {
      throw new A2AError('CONFLICT', undefined, { details: { taskId: this.id } });
    }
    this.#add(change);
    this.#keeper.appended(this, change);
    return this.sequence;
  }

  /** Takes over changes that somebody else appended and stored, and shows them. */
  receive(changes: readonly TaskChange[]): void {
    for (const change of changes) this.#add(change);
    this.publish();
  }

  #add(change: TaskChange): void {
    change.sequence = ++this.sequence;
    // Most tasks have few changes, and a list that grows by itself makes room for many.
    if (this.#changes.length < 4) this.#changes = withOneMore(this.#changes, change);
    else this.#changes.push(change);
    if (change.kind === 'status') this.state = change.status.state;
    else if (change.kind === 'task') this.state = change.task.status.state;
  }

  whenPersisted(): Promise<void> | undefined {
    return this.#fault ? Promise.reject(this.#fault) : this.#keeper.settled(this);
  }

  task(): Task {
    return this.#shown ?? this.#fold.task();
  }

  subscribe(after: number | 'now', isLast?: (event: StreamEvent) => boolean): LogSubscription {
    return new LogSubscription(this, after, isLast);
  }

  /** Applies every change that is appended but not visible, without showing it yet. Drivers store the result. */
  reducer(): Task {
    this.#shown ??= this.#fold.task();
    this.#advance(this.sequence);
    return this.#fold.task();
  }

  /** Makes everything appended visible and wakes the followers. */
  publish(): void {
    this.#advance(this.sequence);
    this.#shown = undefined;
    this.visible = this.sequence;
    if (this.#waiting) this.#wake();
  }

  /**
   * Gives the log up, because what was appended could not be stored: nothing of it is ever shown, those who follow
   * get the fault, and so does whoever appends or waits.
   */
  abandon(fault: A2AError): void {
    this.#fault = fault;
    this.#wake();
  }

  /** Why the log was given up, if it was. */
  get fault(): A2AError | undefined {
    return this.#fault;
  }

  /** True while somebody waits for more. */
  get isFollowed(): boolean {
    return this.#waiting !== undefined;
  }

  #wake(): void {
    let follower = this.#waiting;
    this.#waiting = undefined;
    while (follower) {
      const next: LogSubscription | undefined = follower.nextWaiting;
      follower.nextWaiting = undefined;
      follower.previousWaiting = undefined;
      follower.isWaiting = false;
      follower.wake();
      follower = next;
    }
  }

  #advance(to: number): void {
    while (this.#folded < to) {
      this.#folded++;
      const change = this.#changes[this.#folded - this.#first];
      if (change) this.#fold.apply(change);
    }
  }

  /** True when nothing can follow what is visible. */
  get isFinished(): boolean {
    return this.visible === this.sequence && isTerminal(this.state);
  }

  /** How many changes are kept in memory. */
  get retainedCount(): number {
    return this.#changes.length;
  }

  /** Forgets the oldest changes in memory, all but `keep`, among those that everybody may see. */
  trim(keep: number): void {
    const gone = Math.min(this.#changes.length - keep, this.visible - this.#first + 1);
    if (gone <= 0) return;
    this.#changes.splice(0, gone);
    this.#first += gone;
  }

  /** The visible change with a sequence number, if it is in memory. */
  at(sequence: number): TaskChange | undefined {
    return sequence > this.visible ? undefined : this.#changes[sequence - this.#first];
  }

  /** True when the changes after a sequence number are all in memory. */
  has(after: number): boolean {
    return after >= this.#first - 1;
  }

  /** See {@link LogBackend.replay}. */
  replay(after: number): MaybePromise<readonly TaskChange[] | undefined> {
    return this.#keeper.replay(this, after);
  }

  /** Parks a follower until there is more. */
  wait(follower: LogSubscription): void {
    follower.isWaiting = true;
    follower.nextWaiting = this.#waiting;
    if (this.#waiting) this.#waiting.previousWaiting = follower;
    this.#waiting = follower;
  }

  /** Takes a follower that leaves off the list. */
  leave(follower: LogSubscription): void {
    if (!follower.isWaiting) return;
    follower.isWaiting = false;
    if (this.#waiting === follower) this.#waiting = follower.nextWaiting;
    if (follower.previousWaiting) follower.previousWaiting.nextWaiting = follower.nextWaiting;
    if (follower.nextWaiting) follower.nextWaiting.previousWaiting = follower.previousWaiting;
    follower.nextWaiting = undefined;
    follower.previousWaiting = undefined;
  }
}

/** A short list with one more change and room for nothing else; written out, because `concat` takes three times as long. */
function withOneMore(changes: TaskChange[], change: TaskChange): TaskChange[] {
  const a = changes[0];
  const b = changes[1];
  const c = changes[2];
  if (!a) return [change];
  if (!b) return [a, change];
  return c ? [a, b, c, change] : [a, b, change];
}
