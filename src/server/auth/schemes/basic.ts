import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader } from '../../http/http-message.ts';
import { type Authenticator, type MaybePromise, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { secretsMatch, maxSecretLength, toPrincipal } from '../secret-lookup.ts';

/** Who there is. */
export interface BasicAuthOptions extends SchemeLabel {
  /** Passwords by name, or a function that knows. */
  users:
    | { readonly [name: string]: string }
    | ((name: string, password: string) => MaybePromise<string | Principal | undefined>);
}

/** Knows callers by name and password. */
export function basicAuth(options: BasicAuthOptions): Authenticator {
  const { users } = options;
  const find = typeof users === 'function' ? users : finderOf(users);
  return {
    schemes: singleScheme(options, 'basic', { type: 'http', scheme: 'basic' }),
    authenticate({ headers }) {
      const header = singleHeader(headers, 'authorization');
      if (header === undefined || !/^basic(\s|$)/i.test(header)) return undefined;
      const [name, password] = readPair(header);
      const found = find(name, password);
      return found instanceof Promise ? found.then(orRefuse) : orRefuse(found);
    },
  };
}

function finderOf(users: {
  readonly [name: string]: string;
}): (name: string, password: string) => string | undefined {
  const passwords = new Map(Object.entries(users));
  return (name, password) => {
    // A name that nobody has takes as long as a wrong password.
    const isRight = secretsMatch(passwords.get(name) ?? '', password);
    return isRight && password !== '' && passwords.has(name) ? name : undefined;
  };
}

function readPair(header: string): [name: string, password: string] {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined || encoded.length > maxSecretLength)
    throw invalidCredentials('What follows Basic is no base64, or far too long.');
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) throw invalidCredentials('There is no colon between name and password.');
  return [pair.slice(0, colon), pair.slice(colon + 1)];
}

function orRefuse(holder: string | Principal | undefined): Principal {
  const principal = toPrincipal(holder);
  if (principal) return principal;
  throw invalidCredentials('The name or the password is wrong.');
}
