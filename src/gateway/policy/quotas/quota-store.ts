import type { MaybePromise } from '../../../primitives/maybe-promise.ts';

/** A counter of a quota in the current period. */
export interface QuotaPeriodCounter {
  /** Identifies the quota and the caller. */
  readonly key: string;
  /** Begin of the period, in milliseconds since 1970. */
  readonly start: number;
}

/** Counts requests in periods. Several gateways may share a store. */
export interface QuotaStore {
  /**
   * Counts a request, unless `limit` requests are counted. Atomic: of concurrent calls, exactly as many succeed as
   * the limit allows.
   *
   * @returns the number of counted requests; undefined if the quota is used up.
   */
  take(counter: QuotaPeriodCounter, limit: number): MaybePromise<number | undefined>;
  /** Reverts a `take`, because another limit rejected the request. */
  giveBack(counter: QuotaPeriodCounter): MaybePromise<void>;
}

/** Counters that a store keeps; those with the oldest period are evicted. Callers choose some of the keys. */
export const maxQuotaCounters = 1_000_000;
