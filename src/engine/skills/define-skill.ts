import type { AgentSkill } from '../../protocol/card.ts';
import type { AgentOutput } from '../agent-output.ts';
import type { ProcessContext } from '../process-context.ts';
import type { StandardSchema } from './standard-schema.ts';

/** Output of {@link SkillDefinition.run}: the data, or a generator that yields progress and returns the data. */
type SkillOutput<Output> =
  | Promise<Output>
  | AsyncGenerator<AgentOutput, Output>
  | Generator<AgentOutput, Output>
  | Output;

/** A skill of an agent. Only `id` is required. */
export interface SkillDefinition<Input = unknown, Output = unknown> extends Partial<AgentSkill> {
  id: string;
  /**
   * Schema of the data part of a message for this skill. A message with other data is rejected with `INVALID_PARAMS`,
   * before a task is created.
   */
  input?: StandardSchema<Input>;
  /** Schema of the data that `run` returns. Other data fails the task. */
  output?: StandardSchema<Output>;
  /** Processes the messages for this skill, instead of `process` of the agent. Its result becomes a data part. */
  run?: (input: Input, context: ProcessContext) => SkillOutput<Output>;
}

/**
 * Defines a skill with structured input and output. Clients name it in the metadata of the message, as `skillId`; an agent
 * with only one such skill needs no name.
 *
 * @example
 * ```ts
 * const add = defineSkill({
 *   id: 'add',
 *   description: 'Adds two numbers',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   output: z.object({ sum: z.number() }),
 *   run: ({ a, b }) => ({ sum: a + b }),
 * });
 * const agent = defineAgent({ name: 'Calculator', description: 'Calculates', skills: [add] });
 * ```
 */
export function defineSkill<Input, Output>(skill: SkillDefinition<Input, Output>): SkillDefinition {
  return skill as SkillDefinition;
}
