import type { BoundedMap } from '../../bounded-map.ts';
import type { Incoming, Moment } from '../../agent/response-plan.ts';
import type { Random } from '../../seeded-random.ts';
import type { Making } from '../compile-context.ts';
import { type Conversation, keyOf, newConversation } from './conversation-state.ts';
import type { Scope } from '../templates/template-scope.ts';
import { shortened } from '../templates/text-format.ts';

/** How large what is made may be. */
export interface Sizes {
  /** Characters of a text. */
  readonly maxText: number;
  /** Characters of a value that is remembered, as JSON. */
  readonly maxValue: number;
}

/** One message and all that its rule needs while it is answered. */
export class Visit {
  readonly incoming: Incoming;
  readonly random: Random;
  conversation: Conversation;
  match: RegExpExecArray | undefined;
  readonly #kept: BoundedMap<string, Conversation>;
  readonly #sizes: Sizes;
  #moment: Moment = { taskId: '', contextId: '', now: 0 };

  constructor(incoming: Incoming, kept: BoundedMap<string, Conversation>, random: Random, sizes: Sizes) {
    this.incoming = incoming;
    this.random = random;
    this.#kept = kept;
    this.#sizes = sizes;
    const { contextId } = incoming;
    this.conversation =
      (contextId === undefined ? undefined : kept.get(keyOf(incoming, contextId))) ?? newConversation();
  }

  /** What templates may speak of just now. */
  get scope(): Scope {
    const { incoming, random, match } = this;
    const { state } = this.conversation;
    return { incoming, random, match, state, moment: this.#moment, maxLength: this.#sizes.maxText };
  }

  /** Takes in what became known: a new conversation has its id now. */
  arrive(moment: Moment): void {
    this.#moment = moment;
    const key = keyOf(this.incoming, moment.contextId);
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
    if (contextId !== undefined) this.#keep(keyOf(this.incoming, contextId));
    return before;
  }

  /** Remembers values for the rest of the conversation; what is too large is cut short or left out. */
  remember(values: readonly (readonly [name: string, make: Making<unknown>])[]): void {
    const { state } = this.conversation;
    const { maxValue } = this.#sizes;
    for (const [name, make] of values) {
      const value = make(this.scope) ?? null;
      if (value === null) state.delete(name);
      else if (typeof value === 'string') state.set(name, shortened(value, maxValue));
      else if (JSON.stringify(value).length <= maxValue) state.set(name, value);
    }
    this.#keep(keyOf(this.incoming, this.#moment.contextId));
  }

  /** Whoever only passes by must not push out those of whom something is known. */
  #keep(key: string): void {
    const { state, matched } = this.conversation;
    if (state.size > 0 || matched.size > 0) this.#kept.set(key, this.conversation);
  }
}
