import * as z from 'zod';
import { Document } from '../../documents/document.ts';
import { type TargetOutcome, targetOutcomes, type OutcomePrompts } from './prompt-catalog.ts';
import type { MessageDraft } from '../drivers/protocol-driver.ts';

const draft = z.union([
  z.string().min(1),
  z.strictObject({
    text: z.string().min(1).optional(),
    messageId: z.string().min(1).optional(),
    parts: z.array(z.looseObject({})).min(1).optional(),
    metadata: z.looseObject({}).optional(),
  }),
]);

/** Which message leads an agent where: the file that `--scenario` names. */
const scenarioSchema = z.strictObject(
  Object.fromEntries(targetOutcomes.map((want) => [want, draft.optional()])) as Record<
    TargetOutcome,
    z.ZodOptional<typeof draft>
  >,
);

/**
 * Reads which message leads where. A text alone is the text of the message.
 *
 * @throws DocumentError that says where the file is not as it should be.
 */
export function readPrompts(text: string, file: string): OutcomePrompts {
  const ways = Document.parse(text, file).check(scenarioSchema);
  return Object.fromEntries(
    Object.entries(ways).map(([want, way]): [string, MessageDraft] => [
      want,
      typeof way === 'string' ? { text: way } : (way ?? {}),
    ]),
  );
}
