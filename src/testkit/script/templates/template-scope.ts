import type { SeededRandom } from '../../seeded-random.ts';
import type { ReceivedMessage, PlaybackContext } from '../../agent/response-plan.ts';
import type { ConversationState } from '../rules/conversation-state.ts';

/** What a template may speak of. */
export interface TemplateScope {
  readonly incoming: ReceivedMessage;
  readonly moment: PlaybackContext;
  readonly state: ConversationState;
  /** What the regular expression of the rule found in the text. */
  readonly match: RegExpExecArray | undefined;
  readonly random: SeededRandom;
  /** How many characters a text may have that is made. */
  readonly maxLength: number;
}
