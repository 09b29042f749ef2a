import type { CredentialRequest, Credentials } from '../../client/credentials.ts';
import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';

/** Credentials of the user. */
export interface UserCredentials {
  bearer?: string | undefined;
  apiKey?: string | undefined;
  /** Token of `auth login` with the origins it may be sent to. */
  stored?: { accessToken: string; origins: readonly string[] } | undefined;
}

/** Sends credentials only as the card declares, and never with the request for the card itself. */
export class DeclaredCredentials implements Credentials {
  readonly #credentials: () => UserCredentials;
  /** True after a request with credentials. */
  wereSent = false;

  constructor(credentials: () => UserCredentials) {
    this.#credentials = credentials;
  }

  headers(request: CredentialRequest): Record<string, string> {
    const headers: Record<string, string> = {};
    const token = this.#tokenFor(request);
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const { apiKey } = this.#credentials();
    const scheme = apiKey === undefined ? undefined : findApiKeyScheme(request);
    if (apiKey !== undefined && scheme?.location === 'header') headers[scheme.name.toLowerCase()] = apiKey;
    if (apiKey !== undefined && scheme?.location === 'cookie') headers.cookie = `${scheme.name}=${apiKey}`;
    this.wereSent ||= Object.keys(headers).length > 0;
    return headers;
  }

  query(request: CredentialRequest): Record<string, string> {
    const { apiKey } = this.#credentials();
    const scheme = apiKey === undefined ? undefined : findApiKeyScheme(request);
    if (apiKey === undefined || scheme?.location !== 'query') return {};
    this.wereSent = true;
    return { [scheme.name]: apiKey };
  }

  #tokenFor({ operation, card, url }: CredentialRequest): string | undefined {
    if (operation === 'card' || !acceptsBearer(card, operation === 'extendedCard')) return undefined;
    const { bearer, stored } = this.#credentials();
    if (bearer !== undefined) return bearer;
    return stored?.origins.includes(new URL(url).origin) ? stored.accessToken : undefined;
  }
}

/** Returns warnings for credentials that the card declares no scheme for. */
export function unusedCredentials(card: AgentCard, { bearer, apiKey }: UserCredentials): string[] {
  const warnings: string[] = [];
  if (bearer !== undefined && !acceptsBearer(card, false))
    warnings.push('The bearer token is not sent: the card declares no scheme for it');
  if (apiKey !== undefined && !findApiKeyScheme({ operation: 'send', card }))
    warnings.push('The API key is not sent: the card declares no scheme for it');
  return warnings;
}

/** Returns the security schemes of a card, required schemes first. */
export function listSchemes(card: AgentCard | undefined): [name: string, scheme: SecurityScheme][] {
  const schemes = Object.entries(card?.securitySchemes ?? {});
  const required = new Set(card?.securityRequirements?.flatMap((each) => Object.keys(each)));
  return [
    ...schemes.filter(([name]) => required.has(name)),
    ...schemes.filter(([name]) => !required.has(name)),
  ];
}

function acceptsBearer(card: AgentCard | undefined, mustDeclare: boolean): boolean {
  const schemes = listSchemes(card);
  if (schemes.length === 0) return !mustDeclare;
  return schemes.some(
    ([, scheme]) =>
      scheme.type === 'oauth2' ||
      scheme.type === 'openIdConnect' ||
      (scheme.type === 'http' && scheme.scheme.toLowerCase() === 'bearer'),
  );
}

function findApiKeyScheme({
  operation,
  card,
}: Pick<CredentialRequest, 'operation' | 'card'>): Extract<SecurityScheme, { type: 'apiKey' }> | undefined {
  if (operation === 'card') return undefined;
  for (const [, scheme] of listSchemes(card)) if (scheme.type === 'apiKey') return scheme;
  return undefined;
}
