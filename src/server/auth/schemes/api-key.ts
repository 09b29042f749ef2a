import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader, type RequestHeaders } from '../../http/http-message.ts';
import {
  type Authenticator,
  type AuthenticationInput,
  type MaybePromise,
  singleScheme,
  type SchemeLabel,
} from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { createSecretLookup, maxSecretLength, type PrincipalsBySecret } from '../secret-lookup.ts';

/** Where keys come, and whose they are. */
export interface ApiKeyAuthOptions extends SchemeLabel {
  /** Addresses are written into logs on their way, so `query` is for callers that cannot do better. */
  in: 'header' | 'query' | 'cookie';
  name: string;
  keys: PrincipalsBySecret;
}

/** Knows callers by a key. */
export function apiKeyAuth(options: ApiKeyAuthOptions): Authenticator {
  const { in: location, name } = options;
  const holder = createSecretLookup(options.keys, 'keys');
  const find = finderOf(location, name);
  return {
    schemes: singleScheme(options, 'apiKey', { type: 'apiKey', location, name }),
    credentialLocations:
      location === 'header'
        ? { headers: [name.toLowerCase()] }
        : location === 'query'
          ? { query: [name] }
          : {},
    authenticate(head) {
      const key = find(head);
      if (key === undefined) return undefined;
      if (key === '' || key.length > maxSecretLength)
        throw invalidCredentials('The key is empty or far too long.');
      const found = holder(key);
      return found instanceof Promise ? found.then(orRefuse) : orRefuse(found);
    },
  };
}

function orRefuse(principal: Principal | undefined): MaybePromise<Principal> {
  if (principal) return principal;
  throw invalidCredentials('Nobody has this key.');
}

function finderOf(
  location: ApiKeyAuthOptions['in'],
  name: string,
): (head: AuthenticationInput) => string | undefined {
  const header = name.toLowerCase();
  switch (location) {
    case 'header':
      return ({ headers }) => singleHeader(headers, header);
    case 'query':
      return ({ query }) => {
        if (query === '') return undefined;
        const values = new URLSearchParams(query).getAll(name);
        // Somebody on the way may have looked at the other one.
        if (values.length > 1) throw invalidCredentials('The key came twice.');
        return values[0];
      };
    case 'cookie':
      return ({ headers }) => (isFromElsewhere(headers) ? undefined : cookieOf(headers, name));
  }
}

/** A browser adds its cookies to what any page sends, so those of other pages do not count. */
function isFromElsewhere(headers: RequestHeaders): boolean {
  const origin = singleHeader(headers, 'origin');
  if (origin === undefined) return singleHeader(headers, 'sec-fetch-site') === 'cross-site';
  return !URL.canParse(origin) || new URL(origin).host !== singleHeader(headers, 'host');
}

function cookieOf(headers: RequestHeaders, name: string): string | undefined {
  for (const pair of (singleHeader(headers, 'cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
