import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentSkill } from '../../protocol/card.ts';
import { buildActionMessage } from './action-message.ts';
import { createParameterCheck } from './parameter-check.ts';
import { type BridgedSkill, schemasExtension, actionsFromCard } from './skill-actions.ts';

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

function only(given: Partial<AgentSkill>, params?: { [key: string]: unknown }): BridgedSkill {
  const [made] = actionsFromCard('agent', cardWith([{ ...skill, ...given }], params)).values();
  if (!made) throw new Error('there is no skill');
  return made;
}

const propertiesOf = ({ action }: BridgedSkill): string[] =>
  Object.keys(action.parameters.properties as object);
const input_schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' }, files: { type: 'string' } },
  required: ['city', 'files'],
};
const output_schema = { type: 'object', properties: { degrees: { type: 'number' } } };

describe('the parameters of an action', () => {
  it('are a prompt and files where nothing else is known', () => {
    const made = only({});
    expect(propertiesOf(made)).toEqual(['prompt', 'files']);
    expect(made.action.parameters).toMatchObject({ required: ['prompt'], additionalProperties: false });
    expect(made.action).toMatchObject({
      name: 'agent/s',
      examples: [],
      output: undefined,
      inputModes: ['text/plain'],
      outputModes: ['text/plain', 'image/png'],
    });
  });

  it('are what stands between braces, each once', () => {
    const made = only({
      description: 'Translates {text} to {language}, and {text} again; {files}, {}, {a b}',
    });
    expect(propertiesOf(made)).toEqual(['text', 'language', 'files']);
    expect(made.action.parameters.required).toEqual(['text', 'language']);
  });

  it('are those of the schema, with the files of the bridge', () => {
    const made = only({ description: 'Weather in {place}' }, { input_schema, output_schema });
    expect(propertiesOf(made)).toEqual(['city', 'days', 'files']);
    expect(made.action.parameters).toMatchObject({
      required: ['city'],
      properties: { files: { type: 'array' } },
    });
    expect(made.action.output).toEqual(output_schema);
  });

  it('are those of the schema of the skill before that of the agent', () => {
    const own = { type: 'object', properties: { word: { type: 'string' } } };
    const made = only({}, { input_schema, output_schema, skills: { s: { input_schema: own } } });
    expect(propertiesOf(made)).toEqual(['word', 'files']);
    expect(made.action.output).toEqual(output_schema);
  });

  it.each<[string, unknown]>([
    ['not an object', 'text'],
    ['the schema of a text', { type: 'string' }],
    ['without properties', { type: 'object' }],
    ['too long', { type: 'object', properties: { a: { description: 'x'.repeat(70_000) } } }],
  ])('are not those of a schema that is %s', (_what, schema) => {
    expect(propertiesOf(only({}, { input_schema: schema }))).toEqual(['prompt', 'files']);
  });

  it('are of skills that can be told apart', () => {
    const card = cardWith([
      skill,
      { ...skill, name: 'Again' },
      { ...skill, id: '' },
      { ...skill, id: '__proto__' },
    ]);
    expect([...actionsFromCard('a', card).keys()]).toEqual(['a/s', 'a/__proto__']);
  });
});

describe('the message of a call', () => {
  const partsOf = (made: BridgedSkill, parameters: { [name: string]: unknown }) =>
    buildActionMessage(made, parameters, [], { messageId: 'm' }).parts;

  it('is the prompt, and names the skill', () => {
    expect(
      buildActionMessage(only({}), { prompt: 'hello', files: [] }, [], { messageId: 'm', contextId: 'c' }),
    ).toEqual({
      messageId: 'm',
      role: 'user',
      contextId: 'c',
      parts: [{ text: 'hello' }],
      metadata: { skillId: 's' },
    });
  });

  it('is the description with its places filled, also as data where the agent reads JSON', () => {
    const description = 'Translates {text} to {language}';
    const given = { text: 'Baum {language}', language: 'English' };
    expect(partsOf(only({ description }), given)).toEqual([
      { text: 'Translates Baum {language} to English' },
    ]);
    expect(partsOf(only({ description, inputModes: ['application/json'] }), given)).toEqual([
      { text: 'Translates Baum {language} to English' },
      { data: given, mediaType: 'application/json' },
    ]);
  });

  it('is the parameters of a schema, as text and as data', () => {
    expect(partsOf(only({}, { input_schema }), { city: 'Oslo', days: 2 })).toEqual([
      { text: 'city: Oslo\ndays: 2' },
      { data: { city: 'Oslo', days: 2 }, mediaType: 'application/json' },
    ]);
    const properties = { prompt: { type: 'string' }, days: { type: 'integer' } };
    expect(partsOf(only({}, { input_schema: { properties } }), { prompt: 'Weather', days: 2 })[0]).toEqual({
      text: 'Weather\n\ndays: 2',
    });
  });
});

describe('parameters', () => {
  const schema = {
    properties: { a: { type: ['string', 'null'] }, b: { type: 'integer' }, c: { type: 'toString' }, d: true },
    required: ['a'],
  };

  it.each<[object, string]>([
    [{}, 'a is required'],
    [{ a: 1 }, 'a must be of type string or null'],
    [{ a: null, b: 1.5 }, 'b must be of type integer'],
  ])('%j are refused', (parameters, message) => {
    expect(() => createParameterCheck(schema)({ ...parameters })).toThrow(message);
  });

  it('may be more than the schema knows, unless it says otherwise', () => {
    expect(() => createParameterCheck(schema)({ a: 'x', b: 1, c: {}, d: 1, e: 2, files: 7 })).not.toThrow();
    expect(() => createParameterCheck({ ...schema, additionalProperties: false })({ a: 'x', e: 2 })).toThrow(
      'e is not a parameter',
    );
  });
});
