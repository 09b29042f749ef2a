import type { TaskChange } from '../../protocol/reduce.ts';
import { isSmallStatus, taskSize, taskTooLargeError } from '../content-size.ts';
import type { InMemoryTaskLog } from '../in-memory-log.ts';

/** Limits the size of each task in a database. */
export class TaskSizeLimit {
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {@link A2AError} if a new task is too large. */
  checkNew({ id, bytes }: InMemoryTaskLog): void {
    if (bytes > this.#maxBytes) throw taskTooLargeError(id, this.#maxBytes);
  }

  /** @throws {@link A2AError} if there is no room for a change of `size` bytes. A short status always has room. */
  checkChange(log: InMemoryTaskLog, change: TaskChange, size: number): void {
    if (log.bytes + size <= this.#maxBytes || isSmallStatus(change, size)) return;
    // Replaced artifacts are part of the events only.
    log.bytes = taskSize(log.task());
    if (log.bytes + size > this.#maxBytes) throw taskTooLargeError(log.id, this.#maxBytes);
  }
}
