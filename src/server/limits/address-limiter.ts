import type { A2AError } from '../../protocol/errors.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { defaultLimits, limitExceeded, type ServerLimits } from './limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** Maximum number of addresses that are tracked. */
const maxAddresses = 10_000;

/** Limits the rate of requests and of invalid credentials per address, before a client is authenticated. */
export class AddressLimiter {
  readonly #makeRequestBucket: (() => TokenBucket) | undefined;
  readonly #makeFailureBucket: (() => TokenBucket) | undefined;
  readonly #requests = new LruMap<string, TokenBucket>({ maxEntries: maxAddresses });
  readonly #failures = new LruMap<string, TokenBucket>({ maxEntries: maxAddresses });
  readonly #now: () => number;

  /** @param now - monotonic time in milliseconds. */
  constructor(limits: ServerLimits, now: () => number) {
    const { addressRate, failedAuthRate = defaultLimits.failedAuthRate } = limits;
    this.#now = now;
    if (addressRate) this.#makeRequestBucket = () => new TokenBucket(addressRate, now());
    if (failedAuthRate) this.#makeFailureBucket = () => new TokenBucket(failedAuthRate, now());
  }

  /** False while no address is limited, so that requests need not be counted. */
  get isActive(): boolean {
    return this.#makeRequestBucket !== undefined || this.#failures.size > 0;
  }

  /** Counts a request. @returns an error if the address sends too many requests or too many invalid credentials. */
  admit(address: string): A2AError | undefined {
    const failureWait = this.#failures.get(address)?.wait(this.#now()) ?? 0;
    if (failureWait > 0) return limitExceeded('failedAuthRate', 'Too many invalid credentials', failureWait);
    if (!this.#makeRequestBucket) return undefined;
    const wait = bucketOf(this.#requests, address, this.#makeRequestBucket).take(this.#now());
    return wait > 0 ? limitExceeded('addressRate', 'Rate limit of the address exceeded', wait) : undefined;
  }

  /** Counts invalid credentials. */
  countFailure(address: string): void {
    if (this.#makeFailureBucket) bucketOf(this.#failures, address, this.#makeFailureBucket).take(this.#now());
  }
}

function bucketOf(
  buckets: LruMap<string, TokenBucket>,
  address: string,
  create: () => TokenBucket,
): TokenBucket {
  let bucket = buckets.get(address);
  if (!bucket) buckets.set(address, (bucket = create()));
  return bucket;
}
