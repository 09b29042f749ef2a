import { isJsonObject } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { JsonSchema } from '../action-types.ts';

/** Parameters of an action. */
export type ActionParameters = { readonly [name: string]: unknown };

const typeChecks = new Map<unknown, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['array', (value) => Array.isArray(value)],
  ['object', isJsonObject],
  ['null', (value) => value === null],
]);

/** Validates parameters. @throws A2AError `INVALID_PARAMS` */
export type ParameterCheck = (parameters: ActionParameters) => void;

/**
 * Creates a check for required parameters, unknown parameters and top-level types. The agent validates all other
 * constraints of the schema.
 */
export function createParameterCheck(schema: JsonSchema): ParameterCheck {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: unknown };
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const names = required.filter((name) => typeof name === 'string');
  const types = new Map(Object.entries(properties).map(([name, property]) => [name, readTypes(property)]));
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
      const expected = types.get(name);
      if (expected) checkType(name, value, expected);
      else if (isClosed)
        throw invalidField(name, `must be one of the parameters ${[...types.keys()].join(', ')}`);
    }
  };
}

function checkType(name: string, value: unknown, types: readonly string[]): void {
  if (types.length === 0 || types.some((type) => typeChecks.get(type)?.(value) ?? true)) return;
  throw invalidField(name, `must be of type ${types.join(' or ')}`);
}

function readTypes(property: unknown): string[] {
  const type = typeof property === 'object' && property !== null && 'type' in property ? property.type : [];
  return [type].flat().filter((each) => typeof each === 'string');
}
