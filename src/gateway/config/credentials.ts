import { exchangedToken, forwardedToken } from '../agents/caller-token.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import {
  apiKey,
  bearer,
  clientCredentials,
  type CredentialRequest,
  type Credentials,
} from '../../client/credentials.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { UpstreamAuthentication } from './proxied-agent-schema.ts';

type ApiKeyScheme = Extract<SecurityScheme, { type: 'apiKey' }>;

/** Builds credentials from the configuration. */
export function buildCredentials(
  config: UpstreamAuthentication,
  path: string,
  now: () => number,
): Credentials {
  if ('type' in config) {
    switch (config.type) {
      case 'static_bearer':
        return bearer(config.token);
      case 'static_apikey':
        return cardApiKey(config.token);
      case 'oauth2_client_credentials':
        checkTokenUrl(config.token_url, config.allow_loopback_token_url === true, `${path}.token_url`);
        return clientCredentials({
          ...toClientOptions(config),
          maxAge: (config.token_cache_duration_seconds ?? 3300) * 1000,
          now,
        });
      case 'forward_token':
        return forwardedToken();
      case 'token_exchange':
        checkTokenUrl(config.token_url, config.allow_loopback_token_url === true, `${path}.token_url`);
        return exchangedToken({
          ...toClientOptions(config),
          resource: config.resource,
          subjectTokenType: config.subject_token_type,
          requestedTokenType: config.requested_token_type,
          actorToken: config.actor_token,
          actorTokenType: config.actor_token_type,
          maxAge: (config.token_cache_duration_seconds ?? 300) * 1000,
          now,
        });
    }
  }
  return config.scheme === 'apikey' ? cardApiKey(config.token) : bearer(config.token);
}

type OAuthClient = Extract<
  UpstreamAuthentication,
  { type: 'oauth2_client_credentials' } | { type: 'token_exchange' }
>;

function toClientOptions(config: OAuthClient) {
  return {
    tokenUrl: config.token_url,
    clientId: config.client_id,
    clientSecret: config.client_secret,
    scope: config.scope,
    audience: config.audience,
    clientAuthMethod: config.client_authentication ?? ('body' as const),
  };
}

/** Returns true if credentials need the token of the caller. */
export function needsCallerToken(config: UpstreamAuthentication | undefined): boolean {
  return (
    config !== undefined && 'type' in config && ['forward_token', 'token_exchange'].includes(config.type)
  );
}

/** Returns why a token URL is invalid, or undefined if it is valid. */
export function tokenUrlProblem(url: string, allowLoopback: boolean): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:' && isLocalHost(hostname))
    return allowLoopback
      ? undefined
      : 'must be https; set allow_loopback_token_url to allow http on the local host';
  return 'must be https, because it receives the client secret';
}

function checkTokenUrl(url: string, allowLoopback: boolean, path: string): void {
  const problem = tokenUrlProblem(url, allowLoopback);
  if (problem !== undefined) throw invalidField(path, problem);
}

/** Sends the key as the API key scheme of the card requires; without such a scheme, as `X-API-Key`. */
function cardApiKey(value: string): Credentials {
  const cache = new WeakMap<AgentCard, Credentials>();
  const defaultKey = apiKey({ name: 'X-API-Key', in: 'header', value });
  const choose = ({ card }: CredentialRequest): Credentials => {
    if (!card) return defaultKey;
    let credentials = cache.get(card);
    if (!credentials) {
      const scheme = findApiKeyScheme(card);
      credentials = scheme ? apiKey({ name: scheme.name, in: scheme.location, value }) : defaultKey;
      cache.set(card, credentials);
    }
    return credentials;
  };
  return {
    headers: (request) => choose(request).headers(request),
    query: (request) => choose(request).query?.(request) ?? {},
  };
}

/** Returns the API key scheme that the card requires, otherwise the first that it declares. */
function findApiKeyScheme(card: AgentCard): ApiKeyScheme | undefined {
  const schemes = card.securitySchemes ?? {};
  const required = (card.securityRequirements ?? []).flatMap((each) => Object.keys(each));
  for (const name of [...required, ...Object.keys(schemes)]) {
    const scheme = schemes[name];
    if (scheme?.type === 'apiKey') return scheme;
  }
  return undefined;
}

/** Sends no credentials, not even where the card requests them. */
export const noCredentials: Credentials = { headers: () => ({}) };

/** Forwards headers of the client. Headers of the credentials take precedence. */
export function withForwardedHeaders(
  names: readonly string[],
  credentials: Credentials = noCredentials,
): Credentials {
  const headerNames = names.map((name) => name.toLowerCase());
  return {
    ...credentials,
    headers: async (request) => ({
      ...pickHeaders(request.call, headerNames),
      ...(await credentials.headers(request)),
    }),
  };
}

function pickHeaders({ headers = {} }: CallContext, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) found[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return found;
}
