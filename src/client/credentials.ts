import type { CallContext, Operation } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import type { HttpClient } from './http/http-client.ts';
import {
  type ClientCredentialsOptions,
  type IssuedToken,
  requestToken,
  resolveSecret,
  type SecretSource,
} from './token-request.ts';

/** Request that needs credentials. */
export interface CredentialRequest {
  /** URL of the request. */
  url: string;
  operation: Operation | 'card';
  /** Call that causes the request; credentials may depend on its owner or tenant. */
  call: CallContext;
  /** Agent card, if known; it may state where credentials are expected. */
  card?: AgentCard | undefined;
  /** HTTP client for requests of the provider. */
  http: HttpClient;
}

/** Provider of credentials. It is called for each request. */
export interface Credentials {
  headers(request: CredentialRequest): Promise<Record<string, string>> | Record<string, string>;
  /** Query parameters, for API keys that are sent in the URL. */
  query?(request: CredentialRequest): Promise<Record<string, string>> | Record<string, string>;
  /**
   * Called after a 401 response.
   *
   * @returns true if the request should be repeated once with new credentials.
   */
  refresh?(rejected: {
    headers: Record<string, string>;
    authenticate: string | undefined;
  }): Promise<boolean> | boolean;
}

/** Sends `Authorization: Bearer …`. A function is called again after a 401 response. */
export function bearer(token: SecretSource): Credentials {
  if (typeof token === 'string') {
    const headers = { authorization: `Bearer ${token}` };
    return { headers: () => headers };
  }
  return {
    headers: async () => ({ authorization: `Bearer ${await token()}` }),
    refresh: async ({ headers }) => headers.authorization !== `Bearer ${await token()}`,
  };
}

/**
 * Sends `Authorization: Bearer …` only to an agent whose card lists an HTTP bearer, OAuth 2 or OpenID Connect scheme. A
 * request for the card itself has no token.
 *
 * @param onWithheld - called once if the card lists no such scheme.
 */
export function bearerIfListed(token: SecretSource, onWithheld?: () => void): Credentials {
  const credentials = bearer(token);
  let isReported = false;
  return {
    ...credentials,
    headers(request) {
      if (request.card && listsBearer(request.card)) return credentials.headers(request);
      if (request.operation !== 'card' && !isReported) {
        isReported = true;
        onWithheld?.();
      }
      return {};
    },
  };
}

function listsBearer({ securitySchemes = {} }: AgentCard): boolean {
  return Object.values(securitySchemes).some(
    (scheme) =>
      scheme.type === 'oauth2' ||
      scheme.type === 'openIdConnect' ||
      (scheme.type === 'http' && scheme.scheme.toLowerCase() === 'bearer'),
  );
}

/** Sends an API key in a header, query parameter or cookie. */
export function apiKey(key: {
  name: string;
  in: 'header' | 'query' | 'cookie';
  value: SecretSource;
}): Credentials {
  const { name, value } = key;
  switch (key.in) {
    case 'header':
      return { headers: async () => ({ [name.toLowerCase()]: await resolveSecret(value) }) };
    case 'cookie':
      return { headers: async () => ({ cookie: `${name}=${await resolveSecret(value)}` }) };
    case 'query':
      return { headers: () => ({}), query: async () => ({ [name]: await resolveSecret(value) }) };
  }
}

/** Options of {@link exchangeToken}. */
export interface TokenExchangeOptions extends ClientCredentialsOptions {
  /** URL of the agent for which the token is. */
  resource?: string;
  /** @defaultValue `urn:ietf:params:oauth:token-type:access_token` */
  subjectTokenType?: string;
  requestedTokenType?: string;
  /** Token of the party that acts for the subject. */
  actorToken?: SecretSource;
  /** @defaultValue `urn:ietf:params:oauth:token-type:access_token` */
  actorTokenType?: string;
}

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** Milliseconds for which an exchanged token of unknown lifetime is used. */
const unknownLifetime = 300_000;

/** Exchanges the token of a subject for another one (RFC 8693). */
export async function exchangeToken(
  options: TokenExchangeOptions,
  subject: string,
  http: HttpClient,
): Promise<IssuedToken> {
  const { resource, subjectTokenType = accessTokenType, requestedTokenType, actorToken } = options;
  const actor = actorToken === undefined ? undefined : await resolveSecret(actorToken);
  const { now = Date.now, maxAge = unknownLifetime } = options;
  return requestToken({ ...options, maxAge }, http, now, {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: subject,
    subject_token_type: subjectTokenType,
    ...(resource !== undefined && { resource }),
    ...(requestedTokenType !== undefined && { requested_token_type: requestedTokenType }),
    ...(actor !== undefined && {
      actor_token: actor,
      actor_token_type: options.actorTokenType ?? accessTokenType,
    }),
  });
}

/** Obtains bearer tokens with the OAuth 2.0 client credentials grant, caches them and renews them after a 401 response. */
export function clientCredentials(options: ClientCredentialsOptions): Credentials {
  const now = options.now ?? Date.now;
  let token: IssuedToken | undefined;
  let pending: Promise<IssuedToken> | undefined;

  async function currentToken(http: HttpClient): Promise<IssuedToken> {
    if (token && now() < token.until) return token;
    pending ??= requestToken(options, http, now).finally(() => {
      pending = undefined;
    });
    token = await pending;
    return token;
  }

  return {
    headers: async ({ http }) => ({ authorization: (await currentToken(http)).authorization }),
    refresh({ headers }) {
      // A concurrent call may have renewed it already.
      if (token?.authorization === headers.authorization) token = undefined;
      return true;
    },
  };
}
