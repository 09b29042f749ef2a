import { copyJson, freezeJson } from '../../primitives/json.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';

/** Options of {@link withPublicCard}. */
export interface PublicCardOptions {
  /** Replaces the name in the card. */
  displayName?: string | undefined;
  /** Keeps the security schemes, for upstreams that check the credentials of the client. @defaultValue false */
  keepSecurity?: boolean;
}

/**
 * Middleware that adapts the card of an upstream for clients of the gateway: removes the security requirements, which
 * the gateway fulfills, and the signatures, which no longer match. The server replaces the URLs.
 */
export function withPublicCard(agent: Agent, options: PublicCardOptions = {}): Agent {
  // Returns the same object for the same card, because servers cache by identity.
  const cache = new WeakMap<AgentCard, AgentCard>();
  const toPublicCard = (card: AgentCard): AgentCard => {
    let result = cache.get(card);
    // All callers share it.
    if (!result) cache.set(card, (result = freezeJson(copyJson(publicCard(card, options)))));
    return result;
  };
  return withInterceptor(agent, {
    card: async (request, call, next) => toPublicCard(await next(request, call)),
    extendedCard: async (request, call, next) => toPublicCard(await next(request, call)),
  });
}

function publicCard(card: AgentCard, { displayName, keepSecurity = false }: PublicCardOptions): AgentCard {
  const { signatures: _signatures, securitySchemes, securityRequirements, ...rest } = card;
  const name = displayName ?? card.name;
  if (keepSecurity) return { ...rest, name, securitySchemes, securityRequirements };
  const skills = card.skills.map(({ securityRequirements: _requirements, ...skill }) => skill);
  return { ...rest, name, skills };
}
