import type { AgentCard, AgentSkill } from '../../protocol/card.ts';
import type { Action, JsonSchema } from '../action-types.ts';
import { type ParameterCheck, createParameterCheck } from './parameter-check.ts';

/**
 * The extension of a card by which an agent says what its skills take and give: `input_schema` and `output_schema`, for
 * all its skills or, under `skills`, by the id of a skill.
 */
export const schemasExtension = 'https://solace.com/a2a/extensions/sam/schemas';

/** How long a schema may be, as JSON, for it to be believed. */
const maxSchemaLength = 64 * 1_024;

/** How many skills of one card become actions. */
export const maxSkills = 1_000;

/** A skill as an action, and how its parameters become a message. */
export interface BridgedSkill {
  readonly action: Action;
  /** Looks at parameters before they are sent. */
  readonly check: ParameterCheck;
  /** A sentence with a `{placeholder}` for each parameter. */
  readonly template: string | undefined;
  /** True when parameters also go as data. */
  readonly takesData: boolean;
  /** What is asked for: what the skill gives, and then what its agent gives otherwise. */
  readonly acceptedOutputModes: string[];
}

const placeholder = /\{([A-Za-z_][\w-]{0,63})\}/g;

/** The parameter that every action has. */
const files: JsonSchema = {
  description:
    'Files to send along: addresses (artifact://…, data:…, or https://… where that is allowed), or content as base64.',
  type: 'array',
  maxItems: 32,
  items: {
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        properties: { uri: { type: 'string' }, name: { type: 'string' }, mediaType: { type: 'string' } },
        required: ['uri'],
      },
      {
        type: 'object',
        properties: { bytes: { type: 'string' }, name: { type: 'string' }, mediaType: { type: 'string' } },
        required: ['bytes', 'name'],
      },
    ],
  },
};

/** Goes on with a call that waits for its caller, or that takes long. */
export const provideRequiredInput: Action = {
  name: 'provide_required_input',
  agentName: '',
  skillId: 'provide_required_input',
  title: 'Provide required input',
  description:
    'Answers the question of an agent, or goes on waiting for one that is still at work. Takes the follow-up ID that the call before gave.',
  examples: [],
  tags: [],
  parameters: {
    type: 'object',
    properties: {
      follow_up_id: { type: 'string', description: 'The follow-up ID of the call before.' },
      user_response: {
        type: 'string',
        description: 'The answer to the question; empty to go on waiting.',
      },
      files,
    },
    required: ['follow_up_id', 'user_response'],
    additionalProperties: false,
  },
  output: undefined,
  inputModes: [],
  outputModes: [],
};

/** Makes actions of the skills of a card. Of two skills with the same id the first one counts. */
export function actionsFromCard(agentName: string, card: AgentCard): Map<string, BridgedSkill> {
  const skills = new Map<string, BridgedSkill>();
  for (const skill of card.skills.slice(0, maxSkills)) {
    const name = `${agentName}/${skill.id}`;
    if (skill.id !== '' && !skills.has(name)) skills.set(name, skillOf(agentName, skill, card));
  }
  return skills;
}

function skillOf(agentName: string, skill: AgentSkill, card: AgentCard): BridgedSkill {
  const { input, output } = schemasOf(skill.id, card);
  const names = input ? [] : placeholdersIn(skill.description);
  const inputModes = skill.inputModes ?? card.defaultInputModes;
  const outputModes = skill.outputModes ?? card.defaultOutputModes;
  const parameters = input ? withFiles(input) : parametersOf(names);
  return {
    check: createParameterCheck(parameters),
    template: names.length > 0 ? skill.description : undefined,
    takesData: input !== undefined || (names.length > 0 && inputModes.some(isForData)),
    acceptedOutputModes: [...new Set([...outputModes, ...card.defaultOutputModes])],
    action: {
      name: `${agentName}/${skill.id}`,
      agentName,
      skillId: skill.id,
      title: skill.name || skill.id,
      description: skill.description || `Executes the skill ${skill.name || skill.id}.`,
      examples: skill.examples ?? [],
      tags: skill.tags,
      parameters,
      output,
      inputModes,
      outputModes,
    },
  };
}

/** The names between braces, each once. What is called `files` is no text. */
function placeholdersIn(description: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of description.matchAll(placeholder)) if (name !== 'files') names.add(name);
  return [...names];
}

/** Puts values in the place of their names. */
export function fillTemplate(template: string, valueOf: (name: string) => string | undefined): string {
  return template.replaceAll(placeholder, (braced, name: string) => valueOf(name) ?? braced);
}

function parametersOf(names: readonly string[]): JsonSchema {
  const properties: [string, JsonSchema][] = names.map((name) => [name, { type: 'string' }]);
  if (names.length === 0)
    properties.push(['prompt', { type: 'string', description: 'What the agent is to do.' }]);
  return {
    type: 'object',
    // A name may be one that every object has.
    properties: Object.fromEntries([...properties, ['files', files]]),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function withFiles(schema: JsonSchema): JsonSchema {
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => name !== 'files') : [];
  return { ...schema, type: 'object', properties: { ...(schema.properties as object), files }, required };
}

interface Schemas {
  input: JsonSchema | undefined;
  output: JsonSchema | undefined;
}

/** What the card says about a skill: what is said of it alone goes before what is said of all. */
function schemasOf(skillId: string, { capabilities }: AgentCard): Schemas {
  const params = capabilities.extensions?.find(({ uri }) => uri === schemasExtension)?.params;
  const bySkill = objectOf(params?.skills);
  const own = bySkill && Object.hasOwn(bySkill, skillId) ? objectOf(bySkill[skillId]) : undefined;
  return {
    input: schemaOf(own?.input_schema) ?? schemaOf(params?.input_schema),
    output: schemaOf(own?.output_schema) ?? schemaOf(params?.output_schema),
  };
}

/** The schema of an object; anything else cannot be the schema of parameters. */
function schemaOf(value: unknown): JsonSchema | undefined {
  const schema = objectOf(value);
  if (!schema || (schema.type !== undefined && schema.type !== 'object')) return undefined;
  if (!objectOf(schema.properties)) return undefined;
  return JSON.stringify(schema).length <= maxSchemaLength ? schema : undefined;
}

function objectOf(value: unknown): { readonly [key: string]: unknown } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as { readonly [key: string]: unknown };
}

function isForData(mode: string): boolean {
  return ['application/json', 'application/*', '*/*', 'data'].includes(mode.toLowerCase());
}
