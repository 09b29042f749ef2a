import * as z from 'zod';
import { actionSchema } from './action-schema.ts';
import { agentSchema } from './agent-schema.ts';
import { conditionsSchema } from './condition-schema.ts';
import { faultsSchema } from './faults-schema.ts';

const reaction = {
  then: z
    .array(actionSchema)
    .optional()
    .describe('What to do, in this order. Without an end the task is completed.'),
  fault: faultsSchema.optional().describe('What goes wrong with the answer.'),
};

const reactionFormat = z.strictObject(reaction).meta({ id: 'reaction' });

/** What to do about a message, as it is written. */
export type ReactionSpec = z.infer<typeof reactionFormat>;

/** A rule, as it is written. */
export const ruleSchema = z.strictObject({
  name: z.string().min(1).optional().describe('What the journal calls the rule; by default its number.'),
  when: conditionsSchema.optional().describe('Which messages it is for; without it, all of them.'),
  times: z.int().min(1).optional().describe('How often the rule matches at most.'),
  ...reaction,
  sequence: z
    .array(reactionFormat)
    .min(1)
    .optional()
    .describe('Instead of `then`: one for each match, in this order; the last one again and again.'),
  cycle: z.boolean().optional().describe('After the last of the sequence comes the first again.'),
  counts_by: z
    .enum(['conversation', 'script'])
    .optional()
    .describe('Whether each conversation has its own place in the sequence (default) or all share one.'),
});

/** A rule, as it is written. */
export type RuleSpec = z.infer<typeof ruleSchema>;

/** A script, as it is written. */
export const scriptSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Where an editor finds the schema of this file.'),
    name: z.string().optional().describe('What the script is called; by default its file.'),
    description: z.string().optional().describe('What the script is for.'),
    agent: agentSchema.optional().describe('What the card of the agent says, and who may call it.'),
    clock: z
      .enum(['system', 'virtual'])
      .optional()
      .describe('virtual: waiting takes no time. system (default): waiting takes as long as it says.'),
    seed: z.int().min(0).optional().describe('Makes everything random repeat; 0 by default.'),
    rules: z.array(ruleSchema).optional().describe('The first rule that matches a message decides.'),
    otherwise: reactionFormat
      .optional()
      .describe(
        'What to do about a message for which there is no rule; by default the task fails and says so.',
      ),
  })
  .meta({
    title: 'Script of a test agent',
    description: 'What a test agent says on its card and does about messages.',
  });

/** A script, as it is written. */
export type ScriptSpec = z.infer<typeof scriptSchema>;
