import { constantTimeEqual } from '../../../primitives/node/constant-time-equal.ts';
import { mapResolved, type MaybePromise } from '../../../primitives/maybe-promise.ts';
import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader } from '../../http/http-message.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { maxSecretLength, toPrincipal } from '../secret-lookup.ts';

/** Options of {@link basicAuth}. */
export interface BasicAuthOptions extends SchemeLabel {
  /** Passwords by user name, or a function that verifies them. */
  users:
    | { readonly [name: string]: string }
    | ((name: string, password: string) => MaybePromise<string | Principal | undefined>);
}

/** Authenticates clients by user name and password (HTTP Basic). */
export function basicAuth(options: BasicAuthOptions): Authenticator {
  const { users } = options;
  const checkPassword = typeof users === 'function' ? users : createPasswordCheck(users);
  return {
    schemes: singleScheme(options, 'basic', { type: 'http', scheme: 'basic' }),
    authenticate({ headers }) {
      const header = singleHeader(headers, 'authorization');
      if (header === undefined || !/^basic(\s|$)/i.test(header)) return undefined;
      const [name, password] = parseCredentials(header);
      return mapResolved(checkPassword(name, password), requirePrincipal);
    },
  };
}

function createPasswordCheck(users: {
  readonly [name: string]: string;
}): (name: string, password: string) => string | undefined {
  const passwords = new Map(Object.entries(users));
  return (name, password) => {
    // Constant-time: an unknown name takes as long as a wrong password.
    const isMatch = constantTimeEqual(passwords.get(name) ?? '', password);
    return isMatch && password !== '' && passwords.has(name) ? name : undefined;
  };
}

function parseCredentials(header: string): [name: string, password: string] {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined || encoded.length > maxSecretLength)
    throw invalidCredentials('The Basic credentials are not base64 or too long.');
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) throw invalidCredentials('The Basic credentials have no colon.');
  return [pair.slice(0, colon), pair.slice(colon + 1)];
}

function requirePrincipal(user: string | Principal | undefined): Principal {
  const principal = toPrincipal(user);
  if (principal) return principal;
  throw invalidCredentials('Unknown user name or wrong password.');
}
