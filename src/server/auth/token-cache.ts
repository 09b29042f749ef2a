import type { Principal } from '../../protocol/agent.ts';
import { secretDigest } from './secret-lookup.ts';

/** Milliseconds for which a verified token is cached. */
const cacheTtl = 60_000;

/** Maximum number of cached tokens. The cache is cleared when it is full. */
const maxEntries = 10_000;

interface CachedToken {
  principal: Principal;
  until: number;
}

/** Caches verified tokens by digest, because signature verification is slow. */
export class TokenCache {
  readonly #now: () => number;
  #tokens = new Map<string, CachedToken>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the principal of a cached token. */
  find(token: string): Principal | undefined {
    const key = cacheKey(token);
    const cached = this.#tokens.get(key);
    if (!cached) return undefined;
    if (this.#now() < cached.until) return cached.principal;
    this.#tokens.delete(key);
    return undefined;
  }

  /** @param expires - expiry of the token, in milliseconds since 1970. */
  set(token: string, principal: Principal, expires: number): void {
    if (this.#tokens.size >= maxEntries) this.#tokens.clear();
    this.#tokens.set(cacheKey(token), { principal, until: Math.min(this.#now() + cacheTtl, expires) });
  }
}

function cacheKey(token: string): string {
  return secretDigest(token).toString('latin1');
}
