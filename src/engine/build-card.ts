import type { CallContext } from '../protocol/agent.ts';
import { copyJson, freezeJson } from '../primitives/json.ts';
import {
  type AgentCard,
  type AgentExtension,
  idempotencyExtension,
  schemasExtension,
} from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { SkillDefinition } from './skills/define-skill.ts';
import { toJsonSchema } from './skills/standard-schema.ts';

/** Builds the card of an agent. The server adapter adds the interfaces. */
export function buildCard(definition: AgentDefinition): AgentCard {
  const { provider, documentationUrl, iconUrl, securitySchemes, securityRequirements } = definition;
  const skills: readonly SkillDefinition[] = definition.skills ?? [
    { id: 'default', name: definition.name, description: definition.description },
  ];
  const extensions = [
    ...(definition.extensions ?? []),
    ...skillSchemas(skills),
    // A direct reply is not stored, so that a repeated request runs again.
    ...(definition.allowDirectReply ? [] : [repeatedRequests]),
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
      ...(extensions.length > 0 && { extensions }),
    },
    // Without defaultInputModes the agent accepts every media type; see MessageValidator.
    defaultInputModes: definition.defaultInputModes ?? ['text/plain', '*/*'],
    defaultOutputModes: definition.defaultOutputModes ?? ['text/plain'],
    skills: skills.map(({ input, output, run: _run, ...skill }) => ({
      ...(input && { inputModes: ['application/json'] }),
      ...(output && { outputModes: ['application/json'] }),
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

const repeatedRequests: AgentExtension = {
  uri: idempotencyExtension,
  description: 'A request with the Idempotency-Key of an earlier one returns its task',
};

/** Returns the extension with the JSON Schemas of the skills that have some. */
function skillSchemas(skills: readonly SkillDefinition[]): AgentExtension[] {
  const schemas = skills.flatMap(({ id, input, output }) => {
    const input_schema = input && toJsonSchema(input, 'input');
    const output_schema = output && toJsonSchema(output, 'output');
    const members = { ...(input_schema && { input_schema }), ...(output_schema && { output_schema }) };
    return input_schema || output_schema ? [[id, members] as const] : [];
  });
  if (schemas.length === 0) return [];
  const description = 'Input and output schemas of the skills';
  return [{ uri: schemasExtension, description, params: { skills: Object.fromEntries(schemas) } }];
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
