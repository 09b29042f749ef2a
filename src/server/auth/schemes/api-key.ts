import { mapResolved } from '../../../primitives/maybe-promise.ts';
import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader, type RequestHeaders } from '../../http/http-message.ts';
import {
  type Authenticator,
  type AuthenticationInput,
  singleScheme,
  type SchemeLabel,
} from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { createSecretLookup, maxSecretLength, type PrincipalsBySecret } from '../secret-lookup.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Options of {@link apiKeyAuth}. */
export interface ApiKeyAuthOptions extends SchemeLabel {
  /** Location of the key. Avoid `query`: URLs are written to logs. */
  in: 'header' | 'query' | 'cookie';
  name: string;
  keys: PrincipalsBySecret;
}

/** Authenticates clients by an API key, compared in constant time. */
export function apiKeyAuth(options: ApiKeyAuthOptions): Authenticator {
  const { in: location, name } = options;
  const findPrincipal = createSecretLookup(options.keys, 'keys');
  const readKey = keyReader(location, name);
  return {
    schemes: singleScheme(options, 'apiKey', { type: 'apiKey', location, name }),
    credentialLocations:
      location === 'header'
        ? { headers: [name.toLowerCase()] }
        : location === 'query'
          ? { query: [name] }
          : {},
    authenticate(input) {
      const key = readKey(input);
      if (key === undefined) return undefined;
      if (key === '' || key.length > maxSecretLength)
        throw invalidCredentials('The key is empty or too long.');
      return mapResolved(findPrincipal(key), requirePrincipal);
    },
  };
}

function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal) return principal;
  throw invalidCredentials('Unknown API key.');
}

function keyReader(
  location: ApiKeyAuthOptions['in'],
  name: string,
): (input: AuthenticationInput) => string | undefined {
  const header = name.toLowerCase();
  switch (location) {
    case 'header':
      return ({ headers }) => singleHeader(headers, header);
    case 'query':
      return ({ query }) => {
        if (query === '') return undefined;
        const values = new URLSearchParams(query).getAll(name);
        // A proxy may have checked the other one.
        if (values.length > 1) throw invalidCredentials('The key occurs twice in the query.');
        return values[0];
      };
    case 'cookie':
      return ({ headers }) => (isCrossSite(headers) ? undefined : readCookie(headers, name));
  }
}

/** CSRF protection: browsers add cookies to requests of any page, so cookies of cross-site requests are ignored. */
function isCrossSite(headers: RequestHeaders): boolean {
  const origin = singleHeader(headers, 'origin');
  if (origin === undefined) return singleHeader(headers, 'sec-fetch-site') === 'cross-site';
  const url = parseUrl(origin);
  return !url || url.host !== singleHeader(headers, 'host');
}

function readCookie(headers: RequestHeaders, name: string): string | undefined {
  for (const pair of (singleHeader(headers, 'cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
