import type { Clock } from '../../../primitives/clock.ts';
import { type Database, inTransaction, type SqlRow } from '../database.ts';
import { hasProcessEnded, isSharedLease, readHolders } from '../lease/lease-holders.ts';
import { currentProcess } from '../lease/process-identity.ts';
import { endLease } from './task-holder-table.ts';

/** Milliseconds between two checks. */
const checkInterval = 1_000;

/**
 * Detects processes on a shared file that have ended without a shutdown: their pid does not exist any more, or their
 * heartbeat has not changed for the timeout of their lease, measured by the monotonic clock.
 */
export class EndedProcesses {
  readonly #database: Database;
  readonly #token: () => string;
  readonly #clock: Clock;
  readonly #onEnded: () => void;
  readonly #stop: () => void;
  /** The last heartbeat of each process, and when it was first seen. */
  #seen = new Map<string, { heartbeat: unknown; at: number }>();

  /**
   * @param token - returns the token of the lease of this process.
   * @param onEnded - called after the tasks of a process were left to the others.
   */
  constructor(database: Database, token: () => string, onEnded: () => void, clock: Clock) {
    this.#database = database;
    this.#token = token;
    this.#onEnded = onEnded;
    this.#clock = clock;
    this.#stop = clock.every(checkInterval, () => this.check());
  }

  check(): void {
    try {
      const own = this.#token();
      const others = readHolders(this.#database).filter(
        (holder) => isSharedLease(holder) && holder['token'] !== own,
      );
      const ended = others.filter((holder) => this.#hasEnded(holder));
      const tokens = new Set(others.map(({ token }) => String(token)));
      for (const token of this.#seen.keys()) if (!tokens.has(token)) this.#seen.delete(token);
      if (ended.length === 0) return;
      inTransaction(this.#database, () => {
        for (const { token } of ended) endLease(this.#database, String(token), false);
      });
      this.#onEnded();
    } catch {
      // The file is locked or full. The next check tries again.
    }
  }

  stop(): void {
    this.#stop();
  }

  #hasEnded(holder: SqlRow): boolean {
    if (hasProcessEnded(holder, currentProcess) === true) return true;
    const token = String(holder['token']);
    const now = this.#clock.monotonic();
    const seen = this.#seen.get(token);
    if (seen && seen.heartbeat === holder['heartbeat_at']) return now - seen.at >= Number(holder['timeout']);
    this.#seen.set(token, { heartbeat: holder['heartbeat_at'], at: now });
    return false;
  }
}
