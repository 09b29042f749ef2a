import type { Authenticator } from '../authenticator.ts';

/** Type-checks a custom authenticator. Declare `credentialLocations` for credentials outside of `Authorization` and cookies. */
export function customAuth(authenticator: Authenticator): Authenticator {
  return authenticator;
}
