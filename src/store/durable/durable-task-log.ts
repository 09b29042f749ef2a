import { type A2AError, taskConflict } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import { isTerminal, type TaskState } from '../../protocol/task.ts';
import { InMemoryTaskLog } from '../in-memory-log.ts';

/** State of a task on disk. */
export interface StoredTaskState {
  /** Key of its row; 0 before the first commit. */
  row: number;
  state: TaskState | undefined;
  touched: number;
  changedAt: number;
  sequence: number;
  snapshotAt: number;
  messageId: string | null;
}

/** A task log that tracks which of its changes are on disk. */
export class DurableTaskLog extends InMemoryTaskLog {
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
  /** Changes for the next commit. */
  pending: TaskChange[] = [];
  /** True from the first pending change until the commit. */
  isDirty = false;
  /** True if the pending changes include a status. */
  hasStatusChange = false;
  /** Length of the newest snapshot and of the changes after it, in characters. */
  snapshotSize = 0;
  changesSize = 0;
  /** Its size as counted by the cache; 0 while it is not in the cache. */
  cachedSize = 0;
  /** `ExternalWriteMonitor.version` with which it was last compared. */
  comparedVersion = 0;
  #committing: Promise<void> | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;
  #reject: ((error: A2AError) => void) | undefined = undefined;

  /** Approximate memory use, in bytes. */
  get size(): number {
    return 1_000 + 2 * (this.snapshotSize + this.changesSize);
  }

  /** Like {@link InMemoryTaskLog.append}, but rejects changes to a task that another process has finished. */
  override append(change: TaskChange, expected?: number): number {
    const { state } = this.stored;
    if (state !== undefined && isTerminal(state)) {
      throw taskConflict(this.id);
    }
    return super.append(change, expected);
  }

  /** Returns a promise of the pending commit, or undefined if there is none. */
  whenCommitted(): Promise<void> | undefined {
    if (!this.isDirty) return undefined;
    this.#committing ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#committing;
  }

  /** Publishes pending changes after they were committed, by default all of them. */
  commitSucceeded(upTo = this.sequence): void {
    this.#clear(upTo);
    this.publish(upTo);
    if (this.isDirty) return;
    const resolve = this.#resolve;
    this.#committing = this.#resolve = this.#reject = undefined;
    resolve?.();
  }

  /** Rejects the waiting callers after the pending changes could not be committed. The changes stay pending. */
  commitDelayed(error: A2AError): void {
    const reject = this.#reject;
    this.#committing = this.#resolve = this.#reject = undefined;
    reject?.(error);
  }

  /** Abandons the log after its pending changes could not be committed. */
  commitFailed(error: A2AError): void {
    this.#clear(this.sequence);
    this.abandon(error);
    this.commitDelayed(error);
  }

  /** Discards the pending changes because another process has become the writer of the task. */
  commitRefused(error: A2AError): void {
    this.#clear(this.sequence);
    this.discardPending();
    this.commitDelayed(error);
  }

  #clear(upTo: number): void {
    this.pending = upTo < this.sequence ? this.pending.filter(({ sequence = 0 }) => sequence > upTo) : [];
    this.isDirty = this.pending.length > 0;
    this.hasStatusChange = this.isDirty && this.pending.some(({ kind }) => kind === 'status');
  }
}
