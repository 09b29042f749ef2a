import type { Principal } from '../../../protocol/agent.ts';
import { headerOf, type Headers } from '../../http/http-message.ts';
import { type Authenticator, type Head, type Maybe, oneScheme, type SchemeNaming } from '../authenticator.ts';
import { badCredentials } from '../auth-error.ts';
import { holderOf, maxSecretLength, type SecretHolders } from '../secret-lookup.ts';

/** Where keys come, and whose they are. */
export interface ApiKeyOptions extends SchemeNaming {
  /** Addresses are written into logs on their way, so `query` is for callers that cannot do better. */
  in: 'header' | 'query' | 'cookie';
  name: string;
  keys: SecretHolders;
}

/** Knows callers by a key. */
export function apiKey(options: ApiKeyOptions): Authenticator {
  const { in: location, name } = options;
  const holder = holderOf(options.keys, 'keys');
  const find = finderOf(location, name);
  return {
    schemes: oneScheme(options, 'apiKey', { type: 'apiKey', location, name }),
    secrets:
      location === 'header'
        ? { headers: [name.toLowerCase()] }
        : location === 'query'
          ? { query: [name] }
          : {},
    authenticate(head) {
      const key = find(head);
      if (key === undefined) return undefined;
      if (key === '' || key.length > maxSecretLength)
        throw badCredentials('The key is empty or far too long.');
      const found = holder(key);
      return found instanceof Promise ? found.then(orRefuse) : orRefuse(found);
    },
  };
}

function orRefuse(principal: Principal | undefined): Maybe<Principal> {
  if (principal) return principal;
  throw badCredentials('Nobody has this key.');
}

function finderOf(location: ApiKeyOptions['in'], name: string): (head: Head) => string | undefined {
  const header = name.toLowerCase();
  switch (location) {
    case 'header':
      return ({ headers }) => headerOf(headers, header);
    case 'query':
      return ({ query }) => {
        if (query === '') return undefined;
        const values = new URLSearchParams(query).getAll(name);
        // Somebody on the way may have looked at the other one.
        if (values.length > 1) throw badCredentials('The key came twice.');
        return values[0];
      };
    case 'cookie':
      return ({ headers }) => (isFromElsewhere(headers) ? undefined : cookieOf(headers, name));
  }
}

/** A browser adds its cookies to what any page sends, so those of other pages do not count. */
function isFromElsewhere(headers: Headers): boolean {
  const origin = headerOf(headers, 'origin');
  if (origin === undefined) return headerOf(headers, 'sec-fetch-site') === 'cross-site';
  return !URL.canParse(origin) || new URL(origin).host !== headerOf(headers, 'host');
}

function cookieOf(headers: Headers, name: string): string | undefined {
  for (const pair of (headerOf(headers, 'cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
