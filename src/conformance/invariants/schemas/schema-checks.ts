import type { Invariant, Observation } from '../../observation/observation.ts';
import type { Schema, SchemaError } from './schema.ts';

/** A value of an observation and the schema that it must match. */
export interface SchemaSubject {
  readonly schema: Schema;
  readonly value: unknown;
  /** Name of the value in messages. */
  readonly at: string;
}

/**
 * Returns a factory of invariant checks, one per error tag. Each observation is validated once, however many checks
 * evaluate it.
 */
export function createSchemaChecks(
  selectSubject: (observation: Observation) => SchemaSubject | undefined,
): (tag: string) => Invariant['check'] {
  const cache = new WeakMap<Observation, readonly SchemaError[] | undefined>();
  const validate = (observation: Observation): readonly SchemaError[] | undefined => {
    if (cache.has(observation)) return cache.get(observation);
    const subject = selectSubject(observation);
    const errors: SchemaError[] | undefined = subject && [];
    if (subject && errors) subject.schema(subject.value, subject.at, errors);
    cache.set(observation, errors);
    return errors;
  };
  return (tag) => (observation) =>
    validate(observation)
      ?.filter((error) => error.tag === tag)
      .map(({ message }) => message);
}
