import type { LruMap } from '../../../primitives/lru-map.ts';
import type { ReceivedMessage, PlaybackContext } from '../../agent/response-plan.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { ValueFactory } from '../compile-context.ts';
import { type ScriptConversation, conversationKey, createConversation } from './conversation-state.ts';
import type { TemplateScope } from '../templates/template-scope.ts';
import { truncateText } from '../templates/text-format.ts';

/** How large what is made may be. */
export interface SizeLimits {
  /** Characters of a text. */
  readonly maxText: number;
  /** Characters of a value that is remembered, as JSON. */
  readonly maxValue: number;
}

/** One message and all that its rule needs while it is answered. */
export class RuleContext {
  readonly incoming: ReceivedMessage;
  readonly random: SeededRandom;
  conversation: ScriptConversation;
  match: RegExpExecArray | undefined;
  readonly #kept: LruMap<string, ScriptConversation>;
  readonly #sizes: SizeLimits;
  #moment: PlaybackContext = { taskId: '', contextId: '', now: 0 };

  constructor(
    incoming: ReceivedMessage,
    kept: LruMap<string, ScriptConversation>,
    random: SeededRandom,
    sizes: SizeLimits,
  ) {
    this.incoming = incoming;
    this.random = random;
    this.#kept = kept;
    this.#sizes = sizes;
    const { contextId } = incoming;
    this.conversation =
      (contextId === undefined ? undefined : kept.get(conversationKey(incoming, contextId))) ??
      createConversation();
  }

  /** What templates may speak of just now. */
  get scope(): TemplateScope {
    const { incoming, random, match } = this;
    const { state } = this.conversation;
    return { incoming, random, match, state, moment: this.#moment, maxLength: this.#sizes.maxText };
  }

  /** Takes in what became known: a new conversation has its id now. */
  setPlaybackContext(moment: PlaybackContext): void {
    this.#moment = moment;
    const key = conversationKey(this.incoming, moment.contextId);
    // Another message of the same conversation may have been quicker.
    this.conversation = this.#kept.get(key) ?? this.conversation;
    this.#keep(key);
  }

  /** Counts a match of a rule in this conversation. @returns how many came before. */
  count(rule: object): number {
    const { matched } = this.conversation;
    const before = matched.get(rule) ?? 0;
    matched.set(rule, before + 1);
    const { contextId } = this.incoming;
    if (contextId !== undefined) this.#keep(conversationKey(this.incoming, contextId));
    return before;
  }

  /** Remembers values for the rest of the conversation; what is too large is cut short or left out. */
  remember(values: readonly (readonly [name: string, make: ValueFactory<unknown>])[]): void {
    const { state } = this.conversation;
    const { maxValue } = this.#sizes;
    for (const [name, make] of values) {
      const value = make(this.scope) ?? null;
      if (value === null) state.delete(name);
      else if (typeof value === 'string') state.set(name, truncateText(value, maxValue));
      else if (JSON.stringify(value).length <= maxValue) state.set(name, value);
    }
    this.#keep(conversationKey(this.incoming, this.#moment.contextId));
  }

  /** Whoever only passes by must not push out those of whom something is known. */
  #keep(key: string): void {
    const { state, matched } = this.conversation;
    if (state.size > 0 || matched.size > 0) this.#kept.set(key, this.conversation);
  }
}
