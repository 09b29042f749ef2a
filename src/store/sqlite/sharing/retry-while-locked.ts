import { setTimeout as delay } from 'node:timers/promises';
import { backoffDelay } from '../../../primitives/backoff.ts';
import { TemporaryStorageError } from '../../durable/temporary-storage-error.ts';
import type { Database } from '../database.ts';

/** Delays between the attempts to write while another process holds the write lock. */
const lockBackoff = { minDelay: 10, maxDelay: 100, jitter: 'none' } as const;

/** Maximum milliseconds for which SQLite itself waits for a lock. It blocks the event loop meanwhile. */
const maxBlockingWait = 20;

/** Lets SQLite wait for a lock only as long as the event loop may be blocked. */
export function limitBlockingWait(database: Database, busyTimeout: number): void {
  database.exec(`pragma busy_timeout = ${Math.min(busyTimeout, maxBlockingWait)}`);
}

/** Returns the milliseconds until the next attempt to write. */
export function lockRetryDelay(attempts: number): number {
  return backoffDelay(attempts, lockBackoff);
}

/**
 * Runs a write at once. While another process holds the write lock, repeats it without blocking the event loop.
 *
 * @param busyTimeout - milliseconds after which the error of the lock is thrown.
 * @param onFailed - called if the file cannot be written at the moment, before the error is thrown.
 */
export function retryWhileLocked<T>(
  write: () => T,
  busyTimeout: number,
  onFailed?: (error: TemporaryStorageError) => void,
): T | Promise<T> {
  const deadline = performance.now() + busyTimeout;
  /** @returns undefined if the write must be repeated. */
  const attempt = (): { readonly result: T } | undefined => {
    try {
      return { result: write() };
    } catch (thrown) {
      if (!(thrown instanceof TemporaryStorageError)) throw thrown;
      if (thrown.isLocked && performance.now() < deadline) return undefined;
      onFailed?.(thrown);
      throw thrown;
    }
  };
  const written = attempt();
  return written ? written.result : repeat(attempt);
}

async function repeat<T>(attempt: () => { readonly result: T } | undefined): Promise<T> {
  for (let attempts = 0; ; attempts++) {
    await delay(lockRetryDelay(attempts));
    const written = attempt();
    if (written) return written.result;
  }
}
