import type { CallContext } from '../protocol/agent.ts';
import { copyJson, freezeJson } from '../primitives/json.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { AgentDefinition } from './agent-definition.ts';

/** Builds the card of an agent. The server adapter adds the interfaces. */
export function buildCard(definition: AgentDefinition): AgentCard {
  const { provider, documentationUrl, iconUrl, securitySchemes, securityRequirements, extensions } =
    definition;
  const skills = definition.skills ?? [
    { id: 'default', name: definition.name, description: definition.description },
  ];
  const card: AgentCard = {
    name: definition.name,
    description: definition.description,
    version: definition.version ?? '1.0.0',
    interfaces: [],
    capabilities: {
      streaming: definition.streaming ?? true,
      pushNotifications: definition.pushNotifications ?? false,
      extendedAgentCard: definition.extendedCard !== undefined,
      ...(extensions && { extensions }),
    },
    // Without defaultInputModes the agent accepts every media type; see MessageValidator.
    defaultInputModes: definition.defaultInputModes ?? ['text/plain', '*/*'],
    defaultOutputModes: definition.defaultOutputModes ?? ['text/plain'],
    skills: skills.map((skill) => ({
      ...skill,
      name: skill.name ?? skill.id,
      description: skill.description ?? definition.description,
      tags: skill.tags ?? [],
    })),
    ...(provider && { provider }),
    ...(documentationUrl && { documentationUrl }),
    ...(iconUrl && { iconUrl }),
    ...(securitySchemes && { securitySchemes }),
    ...(securityRequirements && { securityRequirements }),
  };
  // All callers share the card.
  return freezeJson(copyJson(card));
}

/** Returns the members in which the extended card differs. @throws {@link A2AError} if the agent has none. */
export async function extendedCardMembers(
  { extendedCard }: AgentDefinition,
  call: CallContext,
): Promise<Partial<AgentCard>> {
  if (extendedCard === undefined)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card');
  return typeof extendedCard === 'function' ? extendedCard(call) : extendedCard;
}
