import type { SeededRandom } from '../../seeded-random.ts';
import type { ReceivedMessage, PlaybackContext } from '../../agent/response-plan.ts';
import type { ConversationState } from '../rules/conversation-state.ts';

/** Values that templates can use. */
export interface TemplateScope {
  readonly received: ReceivedMessage;
  readonly playback: PlaybackContext;
  readonly state: ConversationState;
  /** Match of the regular expression of the rule. */
  readonly match: RegExpExecArray | undefined;
  readonly random: SeededRandom;
  /** Maximum length of a rendered text, in characters. */
  readonly maxLength: number;
}
