import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { withInterceptors } from './interceptors.ts';

/** What of the card of an agent is not for those it is shown to. */
export interface PublicCardOptions {
  /** The name that people see, instead of the one in the card. */
  displayName?: string | undefined;
  /** Callers prove themselves to the agent, so that what it asks of them stays. @defaultValue false */
  keepsSecurity?: boolean;
}

/**
 * Shows the card of an agent as it is right for callers of a gateway: what the agent asks of the gateway by way of
 * credentials is left out, and so are signatures, which no longer hold. Addresses are put in by the face.
 */
export function withPublicCard(agent: Agent, options: PublicCardOptions = {}): Agent {
  // The same card must stay the same object, because faces keep what they made of it.
  const known = new WeakMap<AgentCard, AgentCard>();
  const shown = (card: AgentCard): AgentCard => {
    let made = known.get(card);
    if (!made) known.set(card, (made = publicCard(card, options)));
    return made;
  };
  return {
    ...withInterceptors(agent),
    card: async (call) => shown(await agent.card(call)),
    extendedCard: async (call) => shown(await agent.extendedCard(call)),
  };
}

function publicCard(card: AgentCard, { displayName, keepsSecurity = false }: PublicCardOptions): AgentCard {
  const { signatures: _void, securitySchemes, securityRequirements, ...rest } = card;
  const name = displayName ?? card.name;
  if (keepsSecurity) return { ...rest, name, securitySchemes, securityRequirements };
  const skills = card.skills.map(({ securityRequirements: _theirs, ...skill }) => skill);
  return { ...rest, name, skills };
}
