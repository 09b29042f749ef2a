import { A2AError } from '../../protocol/errors.ts';

/** The storage cannot be accessed at the moment: a file is locked, a disk is full, or a database does not respond. */
export class TemporaryStorageError extends A2AError {
  /** True if another connection holds a lock. */
  readonly isLocked: boolean;

  constructor(cause: unknown, isLocked = false) {
    super('UNAVAILABLE', 'The task store is not available', { cause, details: { retryAfter: '1' } });
    this.isLocked = isLocked;
  }
}
