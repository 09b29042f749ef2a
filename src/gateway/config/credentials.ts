import { isLocalHost } from '../../client/http/destination-policy.ts';
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

/** Makes credentials of what a file says. */
export function buildCredentials(
  given: UpstreamAuthentication,
  path: string,
  now: () => number,
): Credentials {
  if ('type' in given) {
    switch (given.type) {
      case 'static_bearer':
        return bearer(given.token);
      case 'static_apikey':
        return keyOfCard(given.token);
      case 'oauth2_client_credentials':
        checkTokenUrl(given.token_url, given.allow_loopback_token_url === true, `${path}.token_url`);
        return clientCredentials({
          tokenUrl: given.token_url,
          clientId: given.client_id,
          clientSecret: given.client_secret,
          scope: given.scope,
          audience: given.audience,
          clientAuthMethod: given.client_authentication ?? 'body',
          maxAge: (given.token_cache_duration_seconds ?? 3300) * 1000,
          now,
        });
    }
  }
  return given.scheme === 'apikey' ? keyOfCard(given.token) : bearer(given.token);
}

/** Says what is wrong with the address of a token server; undefined when nothing is. */
export function tokenUrlProblem(url: string, allowLoopback: boolean): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:' && isLocalHost(hostname))
    return allowLoopback ? undefined : 'must be https; allow_loopback_token_url takes http on this machine';
  return 'must be https, because a secret goes there';
}

function checkTokenUrl(url: string, allowLoopback: boolean, path: string): void {
  const complaint = tokenUrlProblem(url, allowLoopback);
  if (complaint !== undefined) throw invalidField(path, complaint);
}

/** A key that goes where the card says; without a word of the card, into `X-API-Key`. */
function keyOfCard(value: string): Credentials {
  const known = new WeakMap<AgentCard, Credentials>();
  const usual = apiKey({ name: 'X-API-Key', in: 'header', value });
  const chosen = ({ card }: CredentialRequest): Credentials => {
    if (!card) return usual;
    let ready = known.get(card);
    if (!ready) {
      const scheme = keySchemeOf(card);
      ready = scheme ? apiKey({ name: scheme.name, in: scheme.location, value }) : usual;
      known.set(card, ready);
    }
    return ready;
  };
  return {
    headers: (request) => chosen(request).headers(request),
    query: (request) => chosen(request).query?.(request) ?? {},
  };
}

/** The scheme for keys that the card requires, or else the first that it knows. */
function keySchemeOf(card: AgentCard): ApiKeyScheme | undefined {
  const schemes = card.securitySchemes ?? {};
  const required = (card.securityRequirements ?? []).flatMap((each) => Object.keys(each));
  for (const name of [...required, ...Object.keys(schemes)]) {
    const scheme = schemes[name];
    if (scheme?.type === 'apiKey') return scheme;
  }
  return undefined;
}

/** Sends nothing, where nothing may be sent. */
export const noCredentials: Credentials = { headers: () => ({}) };

/** Adds headers of the caller to credentials. What the credentials say is stronger. */
export function withForwardedHeaders(
  names: readonly string[],
  credentials: Credentials = noCredentials,
): Credentials {
  const wanted = names.map((name) => name.toLowerCase());
  return {
    ...credentials,
    headers: async (request) => ({
      ...picked(request.call, wanted),
      ...(await credentials.headers(request)),
    }),
  };
}

function picked({ headers = {} }: CallContext, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) found[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return found;
}
