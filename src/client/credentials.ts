import type { CallContext, Operation } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { asJsonObject, parseJsonOrUndefined } from '../primitives/json.ts';
import { A2AError } from '../protocol/errors.ts';
import type { HttpClient } from './http/http-client.ts';

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

/** A secret, or a function that returns it for each request. */
export type SecretSource = string | (() => string | Promise<string>);

async function resolveSecret(secret: SecretSource): Promise<string> {
  return typeof secret === 'function' ? await secret() : secret;
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

/** Options of {@link clientCredentials}. */
export interface ClientCredentialsOptions {
  tokenUrl: string;
  clientId: string;
  clientSecret: SecretSource;
  scope?: string;
  /** Audience of the token, if the authorization server requires one. */
  audience?: string;
  /** How the client id and secret are sent: HTTP Basic (`header`) or form fields (`body`). @defaultValue `header` */
  clientAuthMethod?: 'header' | 'body';
  /** Maximum age of a token in milliseconds, even if it expires later. */
  maxAge?: number;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A token of an authorization server. */
export interface IssuedToken {
  /** Value of the header `Authorization`. */
  readonly authorization: string;
  /** Time after which the token is renewed. */
  readonly until: number;
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

/** Milliseconds before its expiry at which a token is renewed. */
const renewalMargin = 30_000;

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

async function requestToken(
  options: ClientCredentialsOptions,
  http: HttpClient,
  now: () => number,
  grant: Readonly<Record<string, string>> = { grant_type: 'client_credentials' },
): Promise<IssuedToken> {
  const { tokenUrl, clientId, clientAuthMethod = 'header' } = options;
  const secret = await resolveSecret(options.clientSecret);
  const form = new URLSearchParams(grant);
  if (options.scope !== undefined) form.set('scope', options.scope);
  if (options.audience !== undefined) form.set('audience', options.audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (clientAuthMethod === 'header') {
    headers.authorization = `Basic ${encodeBasic(clientId, secret)}`;
  } else {
    form.set('client_id', clientId);
    form.set('client_secret', secret);
  }
  const url = new URL(tokenUrl);
  const began = now();
  try {
    const response = await http.request({
      method: 'POST',
      origin: url.origin,
      path: url.pathname + url.search,
      headers,
      body: form.toString(),
      signal: AbortSignal.timeout(30_000),
    });
    return parseTokenResponse(response.status, await response.text(1024 * 1024), {
      tokenUrl,
      began,
      maxAge: options.maxAge,
    });
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw new A2AError('UNAUTHENTICATED', `No token from ${url.origin}`, {
      cause: thrown,
      hint: `The authorization server at ${tokenUrl} did not respond.`,
    });
  }
}

/** OAuth 2.0 requires that both halves are form-encoded before they are joined. */
function encodeBasic(clientId: string, secret: string): string {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return btoa(`${encode(clientId)}:${encode(secret)}`);
}

function parseTokenResponse(
  status: number,
  text: string,
  request: { tokenUrl: string; began: number; maxAge: number | undefined },
): IssuedToken {
  const body = asJsonObject(parseJsonOrUndefined(text)) ?? {};
  if (status !== 200 || typeof body.access_token !== 'string') {
    const error = typeof body.error === 'string' ? `: ${body.error}` : '';
    throw new A2AError(
      'UNAUTHENTICATED',
      `The authorization server returned no token (HTTP ${status}${error})`,
      {
        status,
        hint: `Check the client id, the secret and the scope for ${request.tokenUrl}.`,
      },
    );
  }
  const seconds = Number(body.expires_in);
  // A token of unknown lifetime is used until it is rejected.
  const lifetime = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return {
    authorization: `Bearer ${body.access_token}`,
    until:
      request.began + Math.min(request.maxAge ?? lifetime, Math.max(lifetime - renewalMargin, lifetime / 2)),
  };
}
