import type { Random } from '../../seeded-random.ts';
import type { Incoming, Moment } from '../../agent/response-plan.ts';
import type { State } from '../rules/conversation-state.ts';

/** What a template may speak of. */
export interface Scope {
  readonly incoming: Incoming;
  readonly moment: Moment;
  readonly state: State;
  /** What the regular expression of the rule found in the text. */
  readonly match: RegExpExecArray | undefined;
  readonly random: Random;
  /** How many characters a text may have that is made. */
  readonly maxLength: number;
}
