import type { CredentialRequest, Credentials } from '../../client/credentials.ts';
import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';

/** What a person has to prove who they are. */
export interface UserCredentials {
  bearer?: string | undefined;
  apiKey?: string | undefined;
  /** A token of `auth login`, and where it may go. */
  stored?: { accessToken: string; origins: readonly string[] } | undefined;
}

/** Attaches proofs where the card of the agent declares that they belong, and never shows any to ask for the card. */
export class DeclaredCredentials implements Credentials {
  readonly #proofs: () => UserCredentials;
  /** True once something was sent. */
  wereSent = false;

  constructor(proofs: () => UserCredentials) {
    this.#proofs = proofs;
  }

  headers(request: CredentialRequest): Record<string, string> {
    const headers: Record<string, string> = {};
    const token = this.#tokenFor(request);
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const { apiKey } = this.#proofs();
    const place = apiKey === undefined ? undefined : placeOfKey(request);
    if (apiKey !== undefined && place?.location === 'header') headers[place.name.toLowerCase()] = apiKey;
    if (apiKey !== undefined && place?.location === 'cookie') headers.cookie = `${place.name}=${apiKey}`;
    this.wereSent ||= Object.keys(headers).length > 0;
    return headers;
  }

  query(request: CredentialRequest): Record<string, string> {
    const { apiKey } = this.#proofs();
    const place = apiKey === undefined ? undefined : placeOfKey(request);
    if (apiKey === undefined || place?.location !== 'query') return {};
    this.wereSent = true;
    return { [place.name]: apiKey };
  }

  #tokenFor({ operation, card, url }: CredentialRequest): string | undefined {
    if (operation === 'card' || !acceptsBearer(card, operation === 'extendedCard')) return undefined;
    const { bearer, stored } = this.#proofs();
    if (bearer !== undefined) return bearer;
    return stored?.origins.includes(new URL(url).origin) ? stored.accessToken : undefined;
  }
}

/** Says which proofs a card has no place for. */
export function unusedCredentials(card: AgentCard, { bearer, apiKey }: UserCredentials): string[] {
  const warnings: string[] = [];
  if (bearer !== undefined && !acceptsBearer(card, false))
    warnings.push('the bearer token is not sent: the card declares no scheme that takes one');
  if (apiKey !== undefined && !placeOfKey({ operation: 'send', card }))
    warnings.push('the API key is not sent: the card does not say where it belongs');
  return warnings;
}

/** The schemes of a card, those that it asks for first. */
export function listSchemes(card: AgentCard | undefined): [name: string, scheme: SecurityScheme][] {
  const schemes = Object.entries(card?.securitySchemes ?? {});
  const wanted = new Set(card?.securityRequirements?.flatMap((each) => Object.keys(each)));
  return [...schemes.filter(([name]) => wanted.has(name)), ...schemes.filter(([name]) => !wanted.has(name))];
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

function placeOfKey({
  operation,
  card,
}: Pick<CredentialRequest, 'operation' | 'card'>): Extract<SecurityScheme, { type: 'apiKey' }> | undefined {
  if (operation === 'card') return undefined;
  for (const [, scheme] of listSchemes(card)) if (scheme.type === 'apiKey') return scheme;
  return undefined;
}
