import type { Principal } from '../../../protocol/agent.ts';
import { headerOf } from '../../http/http-message.ts';
import { type Authenticator, type Maybe, oneScheme, type SchemeNaming } from '../authenticator.ts';
import { badCredentials } from '../auth-error.ts';
import { isSameSecret, maxSecretLength, principalOf } from '../secret-lookup.ts';

/** Who there is. */
export interface BasicOptions extends SchemeNaming {
  /** Passwords by name, or a function that knows. */
  users:
    | { readonly [name: string]: string }
    | ((name: string, password: string) => Maybe<string | Principal | undefined>);
}

/** Knows callers by name and password. */
export function basic(options: BasicOptions): Authenticator {
  const { users } = options;
  const find = typeof users === 'function' ? users : finderOf(users);
  return {
    schemes: oneScheme(options, 'basic', { type: 'http', scheme: 'basic' }),
    authenticate({ headers }) {
      const header = headerOf(headers, 'authorization');
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
    const isRight = isSameSecret(passwords.get(name) ?? '', password);
    return isRight && password !== '' && passwords.has(name) ? name : undefined;
  };
}

function readPair(header: string): [name: string, password: string] {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined || encoded.length > maxSecretLength)
    throw badCredentials('What follows Basic is no base64, or far too long.');
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) throw badCredentials('There is no colon between name and password.');
  return [pair.slice(0, colon), pair.slice(colon + 1)];
}

function orRefuse(holder: string | Principal | undefined): Principal {
  const principal = principalOf(holder);
  if (principal) return principal;
  throw badCredentials('The name or the password is wrong.');
}
