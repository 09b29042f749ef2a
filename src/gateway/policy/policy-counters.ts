import type { Clock } from '../../primitives/clock.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { TokenBucket } from '../../server/limits/token-bucket.ts';
import type { CallLimit } from './policy-settings.ts';
import { quotaPeriodAt } from './quotas/quota-period.ts';
import type { QuotaPeriodCounter, QuotaStore } from './quotas/quota-store.ts';

/** Token buckets that are remembered, of all limits and callers. */
const maxBuckets = 100_000;

/** A limit that a call exceeds, and the seconds until it may be repeated. */
export interface ExceededLimit {
  readonly limit: CallLimit;
  readonly kind: 'rate' | 'quota';
  readonly retryAfter: number;
}

/** Counts calls for the rates and quotas of a policy. It outlives the policy, so that a reload resets nothing. */
export class PolicyCounters {
  readonly #quotas: QuotaStore;
  readonly #clock: Clock;
  readonly #buckets: LruMap<string, TokenBucket>;

  constructor(quotas: QuotaStore, clock: Clock) {
    this.#quotas = quotas;
    this.#clock = clock;
    this.#buckets = new LruMap({ maxEntries: maxBuckets });
  }

  /** Counts a call for all limits, or for none if it exceeds one of them. */
  async take(
    limits: readonly { readonly limit: CallLimit; readonly key: string }[],
    onQuota: (limit: CallLimit, used: number) => void,
  ): Promise<ExceededLimit | undefined> {
    const now = this.#clock.monotonic();
    const buckets = limits.flatMap(({ limit, key }) => {
      const bucket = this.#bucketOf(limit, key);
      return bucket ? [{ limit, bucket }] : [];
    });
    for (const { limit, bucket } of buckets) {
      const retryAfter = bucket.wait(now);
      if (retryAfter > 0) return { limit, kind: 'rate', retryAfter };
    }
    for (const { bucket } of buckets) bucket.take(now);
    const taken: QuotaPeriodCounter[] = [];
    for (const { limit, key } of limits) {
      const { quota, name } = limit;
      if (!quota) continue;
      const time = this.#clock.now();
      const { start, end } = quotaPeriodAt(quota.per, time);
      const counter = { key: compositeKey(name, quota.per, key), start };
      const used = await this.#quotas.take(counter, quota.requests);
      if (used === undefined) {
        for (const each of taken) await this.#quotas.giveBack(each);
        return { limit, kind: 'quota', retryAfter: (end - time) / 1000 };
      }
      taken.push(counter);
      onQuota(limit, used);
    }
    return undefined;
  }

  #bucketOf({ rate, name }: CallLimit, key: string): TokenBucket | undefined {
    if (!rate) return undefined;
    const id = compositeKey(name, String(rate.perSecond), String(rate.burst), key);
    let bucket = this.#buckets.get(id);
    if (!bucket) this.#buckets.set(id, (bucket = new TokenBucket(rate, this.#clock.monotonic())));
    return bucket;
  }
}
