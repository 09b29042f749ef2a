import { invalidField } from '../protocol/errors.ts';
import type { Schema } from './action.ts';

/** What an action is called with. */
export type Parameters = { readonly [name: string]: unknown };

/** The kinds of JSON by their names in a schema. */
const kinds = new Map<unknown, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['array', (value) => Array.isArray(value)],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['null', (value) => value === null],
]);

/**
 * Checks parameters as far as a person would: that they are there, known and of the right kind. What a schema says
 * beyond that is for the agent to judge.
 *
 * @throws A2AError `INVALID_PARAMS`
 */
export function checkParameters(parameters: Parameters, schema: Schema): void {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: unknown };
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === 'string' && parameters[name] === undefined) throw invalidField(name, 'is required');
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (name === 'files' || value === undefined) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) {
      if (schema.additionalProperties === false) {
        throw invalidField(name, `is not a parameter; there are ${Object.keys(properties).join(', ')}`);
      }
      continue;
    }
    const types = typesOf(property);
    if (types.length > 0 && !types.some((type) => kinds.get(type)?.(value) ?? true)) {
      throw invalidField(name, `must be of type ${types.join(' or ')}`);
    }
  }
}

function typesOf(property: unknown): string[] {
  const type = typeof property === 'object' && property !== null && 'type' in property ? property.type : [];
  return [type].flat().filter((each) => typeof each === 'string');
}
