import * as z from 'zod';
import { actionSchema } from './action-schema.ts';
import { agentSchema } from './agent-schema.ts';
import { conditionsSchema } from './condition-schema.ts';
import { faultsSchema } from './faults-schema.ts';

const reaction = {
  then: z
    .array(actionSchema)
    .optional()
    .describe('Actions in order. Without a final action the task is completed.'),
  fault: faultsSchema.optional().describe('Faults of the response.'),
};

const reactionSchema = z.strictObject(reaction).meta({ id: 'reaction' });

/** YAML form of a reaction. */
export type ReactionSpec = z.infer<typeof reactionSchema>;

/** Schema of a rule. */
export const ruleSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Name of the rule; by default its number.'),
  when: conditionsSchema.optional().describe('Conditions; without them the rule matches all messages.'),
  times: z.int().min(1).optional().describe('Maximum number of matches.'),
  ...reaction,
  sequence: z
    .array(reactionSchema)
    .min(1)
    .optional()
    .describe('Replaces `then`: one reaction per match in order; the last one repeats.'),
  cycle: z.boolean().optional().describe('Restarts the sequence after the last reaction.'),
  sequence_scope: z
    .enum(['conversation', 'script'])
    .optional()
    .describe('Whether the position in the sequence is per conversation (default) or shared.'),
});

/** YAML form of a rule. */
export type RuleSpec = z.infer<typeof ruleSchema>;

/** Schema of a mock script. */
export const scriptSchema = z
  .strictObject({
    $schema: z.string().optional().describe('JSON Schema of this file, for editors.'),
    name: z.string().optional().describe('Name of the script; by default its file.'),
    description: z.string().optional().describe('Purpose of the script.'),
    agent: agentSchema.optional().describe('Card and authentication of the agent.'),
    clock: z
      .enum(['system', 'virtual'])
      .optional()
      .describe('virtual: delays take no real time. system (default): delays take real time.'),
    seed: z.int().min(0).optional().describe('Seed of random values; 0 by default.'),
    rules: z.array(ruleSchema).optional().describe('The first matching rule is used.'),
    otherwise: reactionSchema
      .optional()
      .describe('Reaction to messages that no rule matches; by default the task fails.'),
  })
  .meta({ title: 'Mock script', description: 'Card and responses of a mock agent.' });

/** YAML form of a mock script. */
export type ScriptSpec = z.infer<typeof scriptSchema>;
