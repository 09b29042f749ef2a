import { isJsonObject } from '../../../primitives/json.ts';
import { A2AError } from '../../../protocol/errors.ts';

/** Variables by name. */
export type StepVariables = ReadonlyMap<string, unknown>;

/** `${name}`, or `$${` for literal text. */
const reference = /\$(\$\{|\{([\w.]+)\})/g;

/** Returns true for variables that every step after the first one has: ids of the current task and context. */
export function isBuiltInVariable(name: string): boolean {
  return name === 'task' || name === 'context';
}

/** Returns the names of all variables in a value. */
export function* variablesIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    for (const [, , name] of value.matchAll(reference)) if (name !== undefined) yield name;
  } else if (Array.isArray(value)) for (const each of value) yield* variablesIn(each);
  else if (isJsonObject(value)) for (const each of Object.values(value)) yield* variablesIn(each);
}

/**
 * Returns a copy with all variables replaced. A text that is one variable keeps the type of its value.
 *
 * @throws A2AError `INVALID_PARAMS` if a variable has no value.
 */
export function replaceVariables<T>(value: T, variables: StepVariables): T {
  return replace(value, variables) as T;
}

function replace(value: unknown, variables: StepVariables): unknown {
  if (typeof value === 'string') {
    const [, only] = /^\$\{([\w.]+)\}$/.exec(value) ?? [];
    if (only !== undefined) return lookUp(only, variables);
    return value.replaceAll(reference, (_match, _rest: string, name: string | undefined) =>
      name === undefined ? '${' : toText(lookUp(name, variables)),
    );
  }
  if (Array.isArray(value)) return value.map((each: unknown) => replace(each, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replace(each, variables)]));
}

function lookUp(name: string, variables: StepVariables): unknown {
  const value = name.startsWith('env.') ? process.env[name.slice('env.'.length)] : variables.get(name);
  if (value !== undefined) return value;
  throw new A2AError(
    'INVALID_PARAMS',
    name.startsWith('env.')
      ? `The environment variable ${name.slice('env.'.length)} is not set`
      : `The variable ${name} has no value`,
  );
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
