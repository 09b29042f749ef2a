import { invalidField } from '../../protocol/errors.ts';
import type { JsonSchema } from '../action-types.ts';

/** What an action is called with. */
export type ActionParameters = { readonly [name: string]: unknown };

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

/** Refuses parameters that are wrong. @throws A2AError `INVALID_PARAMS` */
export type ParameterCheck = (parameters: ActionParameters) => void;

/**
 * Makes the check for a schema, which looks as far as a person would: whether parameters are there, known and of the
 * right kind. What a schema says beyond that is for the agent to judge.
 */
export function createParameterCheck(schema: JsonSchema): ParameterCheck {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: unknown };
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const names = required.filter((name) => typeof name === 'string');
  const types = new Map(Object.entries(properties).map(([name, property]) => [name, typesOf(property)]));
  const isClosed = schema.additionalProperties === false;
  return (parameters) => {
    for (const name of names) {
      if (!Object.hasOwn(parameters, name) || parameters[name] === undefined) {
        throw invalidField(name, 'is required');
      }
    }
    for (const name of Object.keys(parameters)) {
      const value = parameters[name];
      if (name === 'files' || value === undefined) continue;
      const known = types.get(name);
      if (known) checkType(name, value, known);
      else if (isClosed)
        throw invalidField(name, `is not a parameter; there are ${[...types.keys()].join(', ')}`);
    }
  };
}

function checkType(name: string, value: unknown, types: readonly string[]): void {
  if (types.length === 0 || types.some((type) => kinds.get(type)?.(value) ?? true)) return;
  throw invalidField(name, `must be of type ${types.join(' or ')}`);
}

function typesOf(property: unknown): string[] {
  const type = typeof property === 'object' && property !== null && 'type' in property ? property.type : [];
  return [type].flat().filter((each) => typeof each === 'string');
}
