import type { AgentCard, SecurityRequirement } from '../../protocol/card.ts';
import type { AuthenticationResult } from '../http/http-message.ts';
import type { AuthenticatorChain } from './authenticator-chain.ts';

/** Adds the schemes and requirements that the server enforces to a card. */
export function withSecuritySchemes(card: AgentCard, authenticators: AuthenticatorChain): AgentCard {
  return {
    ...card,
    securitySchemes: { ...card.securitySchemes, ...authenticators.schemes },
    securityRequirements: effectiveRequirements(card, authenticators),
  };
}

/**
 * Returns the enforced security requirements: those of the card that the authenticators can verify, or any of the
 * authenticators if there are none.
 */
export function effectiveRequirements(
  card: AgentCard,
  authenticators: AuthenticatorChain,
): SecurityRequirement[] {
  const cardRequirements = enforceable(card.securityRequirements ?? [], authenticators);
  const alternatives = authenticators.options.authenticators.map(({ schemes, scopes = [] }) =>
    Object.fromEntries(Object.keys(schemes).map((name) => [name, [...scopes]])),
  );
  const requirements =
    cardRequirements.length > 0
      ? cardRequirements.map((each) => withScopes(each, authenticators))
      : alternatives;
  return authenticators.options.allowAnonymous ? [...requirements, {}] : requirements;
}

/** Returns the alternatives whose schemes are all implemented by the authenticators. */
function enforceable(
  requirements: readonly SecurityRequirement[],
  authenticators: AuthenticatorChain,
): readonly SecurityRequirement[] {
  return requirements.filter((each) =>
    Object.keys(each).every((name) => Object.hasOwn(authenticators.schemes, name)),
  );
}

/** Adds the scopes that the authenticators require from every client. */
function withScopes(requirement: SecurityRequirement, { options }: AuthenticatorChain): SecurityRequirement {
  const result: SecurityRequirement = {};
  for (const [name, scopes] of Object.entries(requirement)) {
    const commonScopes =
      options.authenticators.find(({ schemes }) => Object.hasOwn(schemes, name))?.scopes ?? [];
    result[name] = [...new Set([...scopes, ...commonScopes])];
  }
  return result;
}

/** Access that a client lacks. */
export interface MissingAccess {
  /** Scopes that are required with the schemes in use; empty if the client needs another scheme. */
  scopes: readonly string[];
}

/** Returns the missing access of a client; undefined if a requirement is fulfilled. */
export function findMissingAccess(
  authentication: AuthenticationResult | undefined,
  requirements: readonly SecurityRequirement[],
): MissingAccess | undefined {
  let nearest: MissingAccess = { scopes: [] };
  for (const requirement of requirements) {
    const names = Object.keys(requirement);
    if (!names.every((name) => authentication?.schemes.includes(name))) continue;
    const needed = [...new Set(Object.values(requirement).flat())];
    if (needed.every((scope) => authentication?.principal.scopes?.includes(scope))) return undefined;
    if (nearest.scopes.length === 0) nearest = { scopes: needed };
  }
  return nearest;
}
