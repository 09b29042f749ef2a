import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { taskConflict } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import { DurableTaskLog } from '../durable/durable-task-log.ts';
import type { LogBackend } from '../in-memory-log.ts';

/** Operations of the task store on the holder of a task. */
export interface HoldBackend extends LogBackend {
  claim(log: PostgresTaskLog): MaybePromise<boolean>;
  release(log: PostgresTaskLog): void;
}

/** A task log in PostgreSQL. Only the replica that holds the task appends to it. */
export class PostgresTaskLog extends DurableTaskLog {
  /** True if this replica is the holder, as far as it knows: the database decides at every commit. */
  isHeld = false;
  /** True from `release()` until the commit that clears the holder. */
  isReleasing = false;
  readonly #store: HoldBackend;

  constructor(store: HoldBackend, owner: string, task: Task, sequence?: number) {
    super(store, owner, task, sequence);
    this.#store = store;
  }

  override append(change: TaskChange, expected?: number): number {
    if (!this.isHeld || this.isReleasing) throw taskConflict(this.id);
    return super.append(change, expected);
  }

  claim(): MaybePromise<boolean> {
    return this.#store.claim(this);
  }

  release(): void {
    this.#store.release(this);
  }
}
