import { A2AError } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import { isTerminal, type TaskState } from '../../protocol/task.ts';
import { InMemoryTaskLog } from '../in-memory-log.ts';

/** What is known of a task on disk. */
export interface StoredTaskState {
  /** The key of its row; 0 while it has none. */
  row: number;
  state: TaskState | undefined;
  touched: number;
  changedAt: number;
  sequence: number;
  snapshotAt: number;
  messageId: string | null;
}

/** A log that knows what of it is on disk and what is not. */
export class SqliteTaskLog extends InMemoryTaskLog {
  ownerRow = 0;
  stored: StoredTaskState = {
    row: 0,
    state: undefined,
    touched: 0,
    changedAt: 0,
    sequence: 0,
    snapshotAt: 0,
    messageId: null,
  };
  /** Changes that wait for the next commit. */
  pending: TaskChange[] = [];
  /** True from the first change that waits until the commit. */
  isDirty = false;
  /** True when a status is among the changes that wait. */
  isMoved = false;
  /** The length of the newest snapshot, and of the changes after it. */
  snapshotSize = 0;
  changesSize = 0;
  /** Which of the changes by other processes it was last compared with. */
  comparedAt = 0;
  #settling: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;
  #reject: ((fault: A2AError) => void) | undefined = undefined;

  /** About how much memory it takes. */
  get size(): number {
    return 1_000 + 2 * (this.snapshotSize + this.changesSize);
  }

  /** As it is in every log; but what another process has ended stays ended, whoever still works on it here. */
  override append(change: TaskChange, expected?: number): number {
    const { state } = this.stored;
    if (state !== undefined && isTerminal(state)) {
      throw new A2AError('CONFLICT', undefined, { details: { taskId: this.id } });
    }
    return super.append(change, expected);
  }

  /** See {@link InMemoryTaskLog.whenPersisted}. */
  settling(): Promise<void> | undefined {
    if (!this.isDirty) return undefined;
    this.#settling ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#settling;
  }

  /** Everything that waited is on disk. */
  succeed(): void {
    this.#clear();
    this.publish();
    const resolve = this.#resolve;
    this.#settling = this.#resolve = this.#reject = undefined;
    resolve?.();
  }

  /** What waited did not reach the disk, and this log is of no use any more. */
  fail(fault: A2AError): void {
    this.#clear();
    this.abandon(fault);
    const reject = this.#reject;
    this.#settling = this.#resolve = this.#reject = undefined;
    reject?.(fault);
  }

  #clear(): void {
    this.pending = [];
    this.isDirty = false;
    this.isMoved = false;
  }
}
