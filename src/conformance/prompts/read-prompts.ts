import * as z from 'zod';
import { Document } from '../../documents/document.ts';
import { type TargetOutcome, targetOutcomes, type OutcomePrompts } from './prompt-catalog.ts';
import type { MessageDraft } from '../drivers/protocol-driver.ts';

const promptSchema = z.union([
  z.string().min(1),
  z.strictObject({
    text: z.string().min(1).optional(),
    messageId: z.string().min(1).optional(),
    parts: z.array(z.looseObject({})).min(1).optional(),
    metadata: z.looseObject({}).optional(),
  }),
]);

/** Schema of the file of `--prompts`. A string stands for a message with that text. */
export const promptsSchema = z.strictObject(
  Object.fromEntries(targetOutcomes.map((outcome) => [outcome, promptSchema.optional()])) as Record<
    TargetOutcome,
    z.ZodOptional<typeof promptSchema>
  >,
);

/**
 * Reads a prompts file. A string stands for a message with that text.
 *
 * @throws DocumentError with the position of each error in the file.
 */
export function readPrompts(text: string, file: string): OutcomePrompts {
  return toPrompts(Document.parse(text, file).check(promptsSchema));
}

/** Returns a message for each outcome. */
export function toPrompts(prompts: z.infer<typeof promptsSchema>): OutcomePrompts {
  return Object.fromEntries(
    Object.entries(prompts).map(([outcome, prompt]): [string, MessageDraft] => [
      outcome,
      typeof prompt === 'string' ? { text: prompt } : (prompt ?? {}),
    ]),
  );
}
