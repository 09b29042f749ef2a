import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../protocol/agent.ts';
import { invalidField } from '../../protocol/errors.ts';
import { mapResolved, type MaybePromise } from '../../primitives/maybe-promise.ts';

/** Principals by secret, or a function that looks them up. */
export type PrincipalsBySecret =
  | { readonly [secret: string]: string | Principal }
  | ReadonlyMap<string, string | Principal>
  | ((secret: string) => MaybePromise<string | Principal | undefined>);

/** Maximum length of a secret; longer ones are rejected without a lookup. */
export const maxSecretLength = 4_096;

/** Random key of this process, so that clients cannot predict digests. Created on demand, as workers require. */
let processKey: string | undefined;

/** Returns the keyed digest that is stored and compared instead of a secret. */
export function secretDigest(secret: string): Buffer {
  processKey ??= randomBytes(32).toString('hex');
  return hash('sha256', processKey + secret, 'buffer');
}

/** Converts an id to a principal. */
export function toPrincipal(holder: string | Principal | undefined): Principal | undefined {
  return typeof holder === 'string' ? { id: holder } : holder;
}

/**
 * Creates a constant-time lookup of principals by secret (API key or token). Only digests are stored and compared, so
 * neither timing nor memory reveals a secret.
 */
export function createSecretLookup(
  principals: PrincipalsBySecret,
  field: string,
): (secret: string) => MaybePromise<Principal | undefined> {
  if (typeof principals === 'function') {
    return (secret) => mapResolved(principals(secret), toPrincipal);
  }
  const table = new Map<string, { digest: Buffer; principal: Principal | undefined }>();
  const entries = principals instanceof Map ? [...principals.entries()] : Object.entries(principals);
  for (const [secret, holder] of entries as [string, string | Principal][]) {
    if (secret === '') throw invalidField(field, 'must not contain an empty secret');
    const known = secretDigest(secret);
    table.set(known.toString('latin1'), { digest: known, principal: toPrincipal(holder) });
  }
  return (secret) => {
    const shown = secretDigest(secret);
    const entry = table.get(shown.toString('latin1'));
    return entry && timingSafeEqual(entry.digest, shown) ? entry.principal : undefined;
  };
}
