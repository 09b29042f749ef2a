import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentSkill } from '../../protocol/card.ts';
import { buildActionMessage } from './action-message.ts';
import { createParameterCheck } from './parameter-check.ts';
import { schemasExtension } from '../../protocol/card.ts';
import { type BridgedSkill, actionsFromCard } from './skill-actions.ts';

const skill: AgentSkill = { id: 's', name: 'Skill', description: 'Does it', tags: [] };

function cardWith(skills: AgentSkill[], params?: { [key: string]: unknown }): AgentCard {
  return {
    name: 'A',
    description: 'A',
    version: '1',
    interfaces: [],
    capabilities: params ? { extensions: [{ uri: schemasExtension, params }] } : {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain', 'image/png'],
    skills,
  };
}

function bridgedSkill(fields: Partial<AgentSkill>, params?: { [key: string]: unknown }): BridgedSkill {
  const [bridged] = actionsFromCard('agent', cardWith([{ ...skill, ...fields }], params)).values();
  if (!bridged) throw new Error('no skill');
  return bridged;
}

const propertiesOf = ({ action }: BridgedSkill): string[] =>
  Object.keys(action.parameters.properties as object);
const input_schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' }, files: { type: 'string' } },
  required: ['city', 'files'],
};
const output_schema = { type: 'object', properties: { degrees: { type: 'number' } } };

describe('actionsFromCard', () => {
  it('uses prompt and files as default parameters', () => {
    const bridged = bridgedSkill({});
    expect(propertiesOf(bridged)).toEqual(['prompt', 'files']);
    expect(bridged.action.parameters).toMatchObject({ required: ['prompt'], additionalProperties: false });
    expect(bridged.action).toMatchObject({
      name: 'agent/s',
      examples: [],
      output: undefined,
      inputModes: ['text/plain'],
      outputModes: ['text/plain', 'image/png'],
    });
  });

  it('uses each placeholder of the description as a parameter once', () => {
    const bridged = bridgedSkill({
      description: 'Translates {text} to {language}, and {text} again; {files}, {}, {a b}',
    });
    expect(propertiesOf(bridged)).toEqual(['text', 'language', 'files']);
    expect(bridged.action.parameters.required).toEqual(['text', 'language']);
  });

  it('uses the input schema of the agent and replaces its files parameter', () => {
    const bridged = bridgedSkill({ description: 'Weather in {place}' }, { input_schema, output_schema });
    expect(propertiesOf(bridged)).toEqual(['city', 'days', 'files']);
    expect(bridged.action.parameters).toMatchObject({
      required: ['city'],
      properties: { files: { type: 'array' } },
    });
    expect(bridged.action.output).toEqual(output_schema);
  });

  it('prefers the schema of the skill to that of the agent', () => {
    const own = { type: 'object', properties: { word: { type: 'string' } } };
    const bridged = bridgedSkill({}, { input_schema, output_schema, skills: { s: { input_schema: own } } });
    expect(propertiesOf(bridged)).toEqual(['word', 'files']);
    expect(bridged.action.output).toEqual(output_schema);
  });

  it.each<[string, unknown]>([
    ['not an object', 'text'],
    ['not an object schema', { type: 'string' }],
    ['without properties', { type: 'object' }],
    ['too long', { type: 'object', properties: { a: { description: 'x'.repeat(70_000) } } }],
  ])('ignores a schema that is %s', (_what, schema) => {
    expect(propertiesOf(bridgedSkill({}, { input_schema: schema }))).toEqual(['prompt', 'files']);
  });

  it('ignores skills with duplicate or empty ids', () => {
    const card = cardWith([
      skill,
      { ...skill, name: 'Again' },
      { ...skill, id: '' },
      { ...skill, id: '__proto__' },
    ]);
    expect([...actionsFromCard('a', card).keys()]).toEqual(['a/s', 'a/__proto__']);
  });
});

describe('buildActionMessage', () => {
  const partsOf = (bridged: BridgedSkill, parameters: { [name: string]: unknown }) =>
    buildActionMessage(bridged, parameters, [], { messageId: 'm' }).parts;

  it('contains the prompt as text and the skill id as metadata', () => {
    expect(
      buildActionMessage(bridgedSkill({}), { prompt: 'hello', files: [] }, [], {
        messageId: 'm',
        contextId: 'c',
      }),
    ).toEqual({
      messageId: 'm',
      role: 'user',
      contextId: 'c',
      parts: [{ text: 'hello' }],
      metadata: { skillId: 's' },
    });
  });

  it('fills the description template and adds data if the skill accepts JSON', () => {
    const description = 'Translates {text} to {language}';
    const parameters = { text: 'Baum {language}', language: 'English' };
    expect(partsOf(bridgedSkill({ description }), parameters)).toEqual([
      { text: 'Translates Baum {language} to English' },
    ]);
    expect(partsOf(bridgedSkill({ description, inputModes: ['application/json'] }), parameters)).toEqual([
      { text: 'Translates Baum {language} to English' },
      { data: parameters, mediaType: 'application/json' },
    ]);
  });

  it('contains the parameters of a schema as text and data', () => {
    expect(partsOf(bridgedSkill({}, { input_schema }), { city: 'Oslo', days: 2 })).toEqual([
      { text: 'city: Oslo\ndays: 2' },
      { data: { city: 'Oslo', days: 2 }, mediaType: 'application/json' },
    ]);
    const properties = { prompt: { type: 'string' }, days: { type: 'integer' } };
    expect(
      partsOf(bridgedSkill({}, { input_schema: { properties } }), { prompt: 'Weather', days: 2 })[0],
    ).toEqual({
      text: 'Weather\n\ndays: 2',
    });
  });
});

describe('createParameterCheck', () => {
  const schema = {
    properties: { a: { type: ['string', 'null'] }, b: { type: 'integer' }, c: { type: 'toString' }, d: true },
    required: ['a'],
  };

  it.each<[object, string]>([
    [{}, 'a is required'],
    [{ a: 1 }, 'a must be of type string or null'],
    [{ a: null, b: 1.5 }, 'b must be of type integer'],
  ])('rejects %j', (parameters, message) => {
    expect(() => createParameterCheck(schema)({ ...parameters })).toThrow(message);
  });

  it('rejects unknown parameters only with additionalProperties: false', () => {
    expect(() => createParameterCheck(schema)({ a: 'x', b: 1, c: {}, d: 1, e: 2, files: 7 })).not.toThrow();
    expect(() => createParameterCheck({ ...schema, additionalProperties: false })({ a: 'x', e: 2 })).toThrow(
      'e must be one of the parameters a, b, c, d',
    );
  });
});
