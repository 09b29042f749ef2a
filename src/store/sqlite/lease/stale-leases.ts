import { type Clock, sleep, systemClock } from '../../../primitives/clock.ts';
import type { Database, SqlRow } from '../database.ts';
import { hasProcessEnded, isSharedLease, readHolders } from './lease-holders.ts';
import { type ProcessIdentity, currentProcess } from './process-identity.ts';

/** Leases without heartbeats: the last heartbeat by token. */
export type StaleLeases = ReadonlyMap<string, number>;

/** Number of observations within the timeout of a lease. */
const observationsPerTimeout = 10;

/**
 * Finds leases that can be taken over because their heartbeats stopped.
 *
 * A heartbeat that looks old proves nothing: the wall clock may have been set forward since. Therefore the leases that
 * look old are observed, and one is stale only if its heartbeat does not change for its whole timeout, measured by the
 * monotonic clock. The wait is skipped if no lease looks old.
 */
export async function findStaleLeases(
  database: Database,
  options: { shared?: boolean; clock?: Clock; self?: ProcessIdentity } = {},
): Promise<StaleLeases> {
  const { shared = false, clock = systemClock, self = currentProcess } = options;
  const stale = new Map<string, number>();
  const isBlocking = (holder: SqlRow): boolean =>
    hasProcessEnded(holder, self) !== true && !(shared && isSharedLease(holder));
  const looksOld = (holder: SqlRow): boolean =>
    // A heartbeat from the future was written before the clock was set back.
    Math.abs(clock.now() - Number(holder['heartbeat_at'])) >= Number(holder['timeout']);
  // Of shared leases on another host, only those without heartbeats are deleted.
  const isObserved = (holder: SqlRow): boolean =>
    looksOld(holder) && (isBlocking(holder) || hasProcessEnded(holder, self) === undefined);

  let suspects = readHolders(database).filter(isObserved);
  const began = clock.monotonic();
  while (suspects.length > 0) {
    const waited = clock.monotonic() - began;
    const holders = readHolders(database);
    const unchanged = holders.filter((holder) =>
      suspects.some(
        (each) => each['token'] === holder['token'] && each['heartbeat_at'] === holder['heartbeat_at'],
      ),
    );
    for (const { token, heartbeat_at: heartbeat, timeout } of unchanged)
      if (waited >= Number(timeout)) stale.set(String(token), Number(heartbeat));
    // One active lease is enough to reject the new one.
    const hasRival = holders.some(
      (each) => isBlocking(each) && !unchanged.includes(each) && !stale.has(String(each['token'])),
    );
    suspects = unchanged.filter(({ token }) => !stale.has(String(token)));
    if (hasRival || suspects.length === 0) break;
    const shortest = Math.min(...suspects.map(({ timeout }) => Number(timeout)));
    await sleep(clock, shortest / observationsPerTimeout);
  }
  return stale;
}
