import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../protocol/agent.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { MaybePromise } from './authenticator.ts';

/** Secrets and the names of those who have them, or a function that knows. */
export type PrincipalsBySecret =
  | { readonly [secret: string]: string | Principal }
  | ReadonlyMap<string, string | Principal>
  | ((secret: string) => MaybePromise<string | Principal | undefined>);

/** How long a secret may be; longer ones are not even looked at. */
export const maxSecretLength = 4_096;

/** Known to this process alone, so that nobody outside can tell what a digest will be. */
const processKey = randomBytes(32).toString('hex');

/** What is kept and compared in place of a secret. */
export function secretDigest(secret: string): Buffer {
  return hash('sha256', processKey + secret, 'buffer');
}

/** True when two secrets are the same; how long it takes says nothing about either. */
export function secretsMatch(one: string, other: string): boolean {
  return timingSafeEqual(secretDigest(one), secretDigest(other));
}

/** A name as a principal. */
export function toPrincipal(holder: string | Principal | undefined): Principal | undefined {
  return typeof holder === 'string' ? { id: holder } : holder;
}

/**
 * Makes the function that knows who has a secret. Secrets are kept and compared as digests only, so neither the time
 * it takes nor the memory of this process tells what they are.
 */
export function createSecretLookup(
  holders: PrincipalsBySecret,
  at: string,
): (secret: string) => MaybePromise<Principal | undefined> {
  if (typeof holders === 'function') {
    return (secret) => {
      const holder = holders(secret);
      return holder instanceof Promise ? holder.then(toPrincipal) : toPrincipal(holder);
    };
  }
  const table = new Map<string, { digest: Buffer; principal: Principal | undefined }>();
  const entries = holders instanceof Map ? [...holders.entries()] : Object.entries(holders);
  for (const [secret, holder] of entries as [string, string | Principal][]) {
    if (secret === '') throw invalidField(at, 'must not have an empty secret');
    const known = secretDigest(secret);
    table.set(known.toString('latin1'), { digest: known, principal: toPrincipal(holder) });
  }
  return (secret) => {
    const shown = secretDigest(secret);
    const entry = table.get(shown.toString('latin1'));
    return entry && timingSafeEqual(entry.digest, shown) ? entry.principal : undefined;
  };
}
