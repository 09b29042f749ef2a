import type { Principal } from '../../protocol/agent.ts';
import { secretDigest } from './secret-lookup.ts';

/** For how long a token that was good is taken to be so, in milliseconds. Keys are looked at far less often. */
const goodFor = 60_000;

/** How many tokens are remembered. */
const most = 10_000;

interface Remembered {
  principal: Principal;
  until: number;
}

/** Remembers tokens that were good a moment ago, because a signature takes long to check. They are kept as digests. */
export class TokenCache {
  readonly #now: () => number;
  #tokens = new Map<string, Remembered>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Who showed the token a moment ago. */
  find(token: string): Principal | undefined {
    const key = keyOf(token);
    const known = this.#tokens.get(key);
    if (!known) return undefined;
    if (this.#now() < known.until) return known.principal;
    this.#tokens.delete(key);
    return undefined;
  }

  /** @param expires - in milliseconds, when the token is no longer good in any case. */
  keep(token: string, principal: Principal, expires: number): void {
    if (this.#tokens.size >= most) this.#tokens.clear();
    this.#tokens.set(keyOf(token), { principal, until: Math.min(this.#now() + goodFor, expires) });
  }
}

function keyOf(token: string): string {
  return secretDigest(token).toString('latin1');
}
