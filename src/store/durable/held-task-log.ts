import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { taskConflict } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import type { LogBackend } from '../in-memory-log.ts';
import type { LogSubscription } from '../log-subscription.ts';
import { DurableTaskLog } from './durable-task-log.ts';

/** Operations of the task store on the holder of a task. */
export interface HoldBackend extends LogBackend {
  claim(log: HeldTaskLog): MaybePromise<boolean>;
  release(log: HeldTaskLog): void;
  /** Called when a subscription waits for events of another process. */
  follow?(log: HeldTaskLog): void;
  /** Applies the events of other processes. */
  refresh(log: HeldTaskLog): unknown;
}

/** A task log in a store that several processes share. Only the process that holds the task appends to it. */
export class HeldTaskLog extends DurableTaskLog {
  /** True from `release()` until the commit that clears the holder. */
  isReleasing = false;
  /** Number of times that this process became the holder. What was sent or read under an earlier one is outdated. */
  hold = 0;
  readonly #store: HoldBackend;
  #isHeld = false;

  constructor(store: HoldBackend, owner: string, task: Task, sequence?: number) {
    super(store, owner, task, sequence);
    this.#store = store;
  }

  /** True if this process is the holder, as far as it knows: the database decides at every commit. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  set isHeld(isHeld: boolean) {
    if (isHeld && !this.#isHeld) this.hold++;
    this.#isHeld = isHeld;
    if (!isHeld && this.hasWaitingSubscriptions) this.#store.follow?.(this);
  }

  override wait(subscription: LogSubscription): void {
    super.wait(subscription);
    if (!this.#isHeld) this.#store.follow?.(this);
  }

  override append(change: TaskChange, expected?: number): number {
    if (!this.isHeld || this.isReleasing) throw taskConflict(this.id);
    return super.append(change, expected);
  }

  claim(): MaybePromise<boolean> {
    return this.#store.claim(this);
  }

  release(): void {
    // The events of an abandoned log are not stored: it must not take part in a commit any more.
    if (this.isHeld && !this.isReleasing && !this.error) this.#store.release(this);
  }

  /** Follows another process that has become the holder: the run in this process ends, and subscribers stay. */
  lose(): void {
    this.isHeld = false;
    this.isReleasing = false;
    const error = taskConflict(this.id);
    this.commitRefused(error);
    this.onAbandoned?.(this, error);
  }

  async refresh(): Promise<void> {
    await this.#store.refresh(this);
  }
}
