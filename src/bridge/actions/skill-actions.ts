import { asJsonObject } from '../../primitives/json.ts';
import { type AgentCard, type AgentSkill, schemasExtension } from '../../protocol/card.ts';
import type { Action, JsonSchema } from '../action-types.ts';
import { type ParameterCheck, createParameterCheck } from './parameter-check.ts';

/** Larger schemas of untrusted cards are ignored; in characters of JSON. */
const maxSchemaLength = 64 * 1_024;

/** Maximum number of skills of one card that become actions. */
export const maxSkills = 1_000;

/** An action and how its parameters are converted to a message. */
export interface BridgedSkill {
  readonly action: Action;
  /** Validates parameters before they are sent. */
  readonly check: ParameterCheck;
  /** Text with a `{placeholder}` for each parameter. */
  readonly template: string | undefined;
  /** True if parameters are also sent as a data part. */
  readonly takesData: boolean;
  /** Output modes of the skill, then the default modes of the agent. */
  readonly acceptedOutputModes: string[];
}

const placeholder = /\{([A-Za-z_][\w-]{0,63})\}/g;

/** Schema of the `files` parameter, which every action has. */
const files: JsonSchema = {
  description: 'Files to send: URIs (artifact://…, data:…, or https://… if enabled), or content as base64.',
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

/** Action that continues a task which requires input, or keeps waiting for a running one. */
export const provideRequiredInput: Action = {
  name: 'provide_required_input',
  agentName: '',
  skillId: 'provide_required_input',
  title: 'Provide required input',
  description:
    'Provides the input that an agent requires, or keeps waiting for an agent that is still working. Requires the follow-up ID of the previous call.',
  examples: [],
  tags: [],
  parameters: {
    type: 'object',
    properties: {
      follow_up_id: { type: 'string', description: 'The follow-up ID of the previous call.' },
      user_response: { type: 'string', description: 'The required input; empty to keep waiting.' },
      files,
    },
    required: ['follow_up_id', 'user_response'],
    additionalProperties: false,
  },
  output: undefined,
  inputModes: [],
  outputModes: [],
};

/** Creates actions from the skills of a card. Of two skills with the same id the first one is used. */
export function actionsFromCard(agentName: string, card: AgentCard): Map<string, BridgedSkill> {
  const skills = new Map<string, BridgedSkill>();
  for (const skill of card.skills.slice(0, maxSkills)) {
    const name = `${agentName}/${skill.id}`;
    if (skill.id !== '' && !skills.has(name)) skills.set(name, toBridgedSkill(agentName, skill, card));
  }
  return skills;
}

function toBridgedSkill(agentName: string, skill: AgentSkill, card: AgentCard): BridgedSkill {
  const { input, output } = readSchemas(skill.id, card);
  const names = input ? [] : findPlaceholders(skill.description);
  const inputModes = skill.inputModes ?? card.defaultInputModes;
  const outputModes = skill.outputModes ?? card.defaultOutputModes;
  const parameters = input ? withFiles(input) : buildParameters(names);
  return {
    check: createParameterCheck(parameters),
    template: names.length > 0 ? skill.description : undefined,
    takesData: input !== undefined || (names.length > 0 && inputModes.some(acceptsData)),
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

/** Returns unique placeholder names, except `files`, which is not a text parameter. */
function findPlaceholders(description: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of description.matchAll(placeholder)) if (name !== 'files') names.add(name);
  return [...names];
}

/** Replaces placeholders by values. Placeholders without a value remain. */
export function fillTemplate(template: string, valueOf: (name: string) => string | undefined): string {
  return template.replaceAll(placeholder, (braced, name: string) => valueOf(name) ?? braced);
}

function buildParameters(names: readonly string[]): JsonSchema {
  const properties: [string, JsonSchema][] = names.map((name) => [name, { type: 'string' }]);
  if (names.length === 0) properties.push(['prompt', { type: 'string', description: 'Task for the agent.' }]);
  return {
    type: 'object',
    // fromEntries defines own properties even for names such as __proto__.
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

/** Returns the schemas of a skill. Schemas of the skill take precedence over those of the agent. */
function readSchemas(skillId: string, { capabilities }: AgentCard): Schemas {
  const params = capabilities.extensions?.find(({ uri }) => uri === schemasExtension)?.params;
  const bySkill = asJsonObject(params?.skills);
  const own = bySkill && Object.hasOwn(bySkill, skillId) ? asJsonObject(bySkill[skillId]) : undefined;
  return {
    input: readObjectSchema(own?.input_schema) ?? readObjectSchema(params?.input_schema),
    output: readObjectSchema(own?.output_schema) ?? readObjectSchema(params?.output_schema),
  };
}

/** Returns undefined unless the value is an object schema, because parameters are an object. */
function readObjectSchema(value: unknown): JsonSchema | undefined {
  const schema = asJsonObject(value);
  if (!schema || (schema.type !== undefined && schema.type !== 'object')) return undefined;
  if (!asJsonObject(schema.properties)) return undefined;
  return JSON.stringify(schema).length <= maxSchemaLength ? schema : undefined;
}

function acceptsData(mode: string): boolean {
  return ['application/json', 'application/*', '*/*', 'data'].includes(mode.toLowerCase());
}
