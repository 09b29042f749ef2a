import type { AgentCard, SecurityRequirement } from '../../protocol/card.ts';
import type { AuthenticationResult } from '../http/http-message.ts';
import type { AuthenticatorChain } from './authenticator-chain.ts';

/** The card with what the gate checks. Who reads it learns all that a caller needs, and nothing that is not checked. */
export function withSecuritySchemes(card: AgentCard, gate: AuthenticatorChain): AgentCard {
  return {
    ...card,
    securitySchemes: { ...card.securitySchemes, ...gate.schemes },
    securityRequirements: effectiveRequirements(card, gate),
  };
}

/**
 * What callers of an agent need: what the agent asks for, as far as the gate can check it, or any of the ways through
 * the gate if it asks for nothing.
 */
export function effectiveRequirements(card: AgentCard, gate: AuthenticatorChain): SecurityRequirement[] {
  const own = checkable(card.securityRequirements ?? [], gate);
  const ways = gate.options.authenticators.map(({ schemes, scopes = [] }) =>
    Object.fromEntries(Object.keys(schemes).map((name) => [name, [...scopes]])),
  );
  const requirements = own.length > 0 ? own.map((each) => withScopes(each, gate)) : ways;
  return gate.options.allowAnonymous ? [...requirements, {}] : requirements;
}

/** The alternatives of which the gate knows every scheme: the others are for somebody else to check. */
function checkable(
  requirements: readonly SecurityRequirement[],
  gate: AuthenticatorChain,
): readonly SecurityRequirement[] {
  return requirements.filter((each) => Object.keys(each).every((name) => Object.hasOwn(gate.schemes, name)));
}

/** The scopes that an agent asks for, and those that the gate asks everybody for. */
function withScopes(requirement: SecurityRequirement, { options }: AuthenticatorChain): SecurityRequirement {
  const whole: SecurityRequirement = {};
  for (const [name, scopes] of Object.entries(requirement)) {
    const always = options.authenticators.find(({ schemes }) => Object.hasOwn(schemes, name))?.scopes ?? [];
    whole[name] = [...new Set([...scopes, ...always])];
  }
  return whole;
}

/** What a caller lacks of all that is needed; undefined when it lacks nothing. */
export interface MissingAccess {
  /** The scopes that would be enough for the schemes the caller used; empty when it needs another scheme. */
  scopes: readonly string[];
}

/** Compares a caller with what is needed. */
export function findMissingAccess(
  caller: AuthenticationResult | undefined,
  requirements: readonly SecurityRequirement[],
): MissingAccess | undefined {
  let nearest: MissingAccess = { scopes: [] };
  for (const requirement of requirements) {
    const names = Object.keys(requirement);
    if (!names.every((name) => caller?.schemes.includes(name))) continue;
    const needed = [...new Set(Object.values(requirement).flat())];
    if (needed.every((scope) => caller?.principal.scopes?.includes(scope))) return undefined;
    if (nearest.scopes.length === 0) nearest = { scopes: needed };
  }
  return nearest;
}
