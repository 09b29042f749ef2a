import * as z from 'zod';
import { actionFormat } from './action-schema.ts';
import { agentFormat } from './agent-schema.ts';
import { conditionsFormat } from './condition-schema.ts';
import { faultsFormat } from './faults-schema.ts';

const reaction = {
  then: z
    .array(actionFormat)
    .optional()
    .describe('What to do, in this order. Without an end the task is completed.'),
  fault: faultsFormat.optional().describe('What goes wrong with the answer.'),
};

const reactionFormat = z.strictObject(reaction).meta({ id: 'reaction' });

/** What to do about a message, as it is written. */
export type ReactionForm = z.infer<typeof reactionFormat>;

/** A rule, as it is written. */
export const ruleFormat = z.strictObject({
  name: z.string().min(1).optional().describe('What the journal calls the rule; by default its number.'),
  when: conditionsFormat.optional().describe('Which messages it is for; without it, all of them.'),
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
export type RuleForm = z.infer<typeof ruleFormat>;

/** A script, as it is written. */
export const scriptFormat = z
  .strictObject({
    $schema: z.string().optional().describe('Where an editor finds the schema of this file.'),
    name: z.string().optional().describe('What the script is called; by default its file.'),
    description: z.string().optional().describe('What the script is for.'),
    agent: agentFormat.optional().describe('What the card of the agent says, and who may call it.'),
    clock: z
      .enum(['system', 'virtual'])
      .optional()
      .describe('virtual: waiting takes no time. system (default): waiting takes as long as it says.'),
    seed: z.int().min(0).optional().describe('Makes everything random repeat; 0 by default.'),
    rules: z.array(ruleFormat).optional().describe('The first rule that matches a message decides.'),
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
export type ScriptForm = z.infer<typeof scriptFormat>;
