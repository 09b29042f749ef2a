import type { LruMap } from '../../../primitives/lru-map.ts';
import type { ReceivedMessage, PlaybackContext } from '../../agent/response-plan.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { ValueFactory } from '../compile-context.ts';
import { type ScriptConversation, conversationKey, createConversation } from './conversation-state.ts';
import type { TemplateScope } from '../templates/template-scope.ts';
import { truncate } from '../../../primitives/text.ts';

/** Size limits of rendered values. */
export interface SizeLimits {
  /** Characters of a rendered text. */
  readonly maxText: number;
  /** Characters of a state value as JSON. */
  readonly maxValue: number;
}

/** Context in which a rule responds to one message. */
export class RuleContext {
  readonly received: ReceivedMessage;
  readonly random: SeededRandom;
  conversation: ScriptConversation;
  match: RegExpExecArray | undefined;
  readonly #conversations: LruMap<string, ScriptConversation>;
  readonly #limits: SizeLimits;
  #playback: PlaybackContext = { taskId: '', contextId: '', now: 0 };

  constructor(
    received: ReceivedMessage,
    conversations: LruMap<string, ScriptConversation>,
    random: SeededRandom,
    limits: SizeLimits,
  ) {
    this.received = received;
    this.random = random;
    this.#conversations = conversations;
    this.#limits = limits;
    const { contextId } = received;
    this.conversation =
      (contextId === undefined ? undefined : conversations.get(conversationKey(received, contextId))) ??
      createConversation();
  }

  /** The current scope of templates. */
  get scope(): TemplateScope {
    const { received, random, match } = this;
    const { state } = this.conversation;
    return { received, random, match, state, playback: this.#playback, maxLength: this.#limits.maxText };
  }

  /** Called during playback, when a new conversation has its id. */
  setPlaybackContext(playback: PlaybackContext): void {
    this.#playback = playback;
    const key = conversationKey(this.received, playback.contextId);
    // Another message of the same conversation may have created it already.
    this.conversation = this.#conversations.get(key) ?? this.conversation;
    this.#store(key);
  }

  /** Counts a match of a rule in this conversation. @returns the number of earlier matches */
  countMatch(rule: object): number {
    const { matched } = this.conversation;
    const earlier = matched.get(rule) ?? 0;
    matched.set(rule, earlier + 1);
    const { contextId } = this.received;
    if (contextId !== undefined) this.#store(conversationKey(this.received, contextId));
    return earlier;
  }

  /** Stores values in the conversation. Strings that are too long are truncated, other values that are too long ignored. */
  setState(values: readonly (readonly [name: string, create: ValueFactory<unknown>])[]): void {
    const { state } = this.conversation;
    const { maxValue } = this.#limits;
    for (const [name, create] of values) {
      const value = create(this.scope) ?? null;
      if (value === null) state.delete(name);
      else if (typeof value === 'string') state.set(name, truncate(value, maxValue));
      else if (JSON.stringify(value).length <= maxValue) state.set(name, value);
    }
    this.#store(conversationKey(this.received, this.#playback.contextId));
  }

  /** Conversations without state are not stored, so that they do not evict others. */
  #store(key: string): void {
    const { state, matched } = this.conversation;
    if (state.size > 0 || matched.size > 0) this.#conversations.set(key, this.conversation);
  }
}
