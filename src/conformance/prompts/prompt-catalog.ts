import { InconclusiveError } from '../check-errors.ts';
import type { MessageDraft } from '../drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject, asList } from '../drivers/normalized-views.ts';

/** What a message can be wanted to lead to. */
export const targetOutcomes = [
  'completed',
  'artifact',
  'slow',
  'chunks',
  'input-required',
  'auth-required',
  'message',
  'failed',
  'rejected',
  'echo',
] as const;

/** What a message can be wanted to lead to. */
export type TargetOutcome = (typeof targetOutcomes)[number];

/** What to send to get there; undefined where nobody knows. */
export type OutcomePrompts = { readonly [want in TargetOutcome]?: MessageDraft };

/** The texts that the agents of this project's own fixtures obey. */
export const fixturePrompts: OutcomePrompts = {
  completed: { text: 'fx:complete' },
  artifact: { text: 'fx:complete' },
  slow: { text: 'fx:slow' },
  chunks: { text: 'fx:chunks' },
  'input-required': { text: 'fx:input' },
  'auth-required': { text: 'fx:auth' },
  message: { text: 'fx:message' },
  failed: { text: 'fx:fail' },
  rejected: { text: 'fx:reject' },
  echo: { text: 'fx:echo' },
};

/** The message ids that agents made for the official kit obey. They are prefixes: something is added to each. */
export const tckPrompts: OutcomePrompts = {
  completed: { messageId: 'tck-complete-task' },
  artifact: { messageId: 'tck-artifact-text' },
  slow: { messageId: 'test-resubscribe-message-id' },
  chunks: { messageId: 'tck-stream-artifact-chunked' },
  'input-required': { messageId: 'tck-input-required' },
  'auth-required': { messageId: 'tck-auth-required' },
  message: { messageId: 'tck-message-response' },
  rejected: { messageId: 'tck-reject-task' },
};

/** What a card says that its agent understands. */
export function cardExamples({ skills }: JsonObject, wanted?: readonly string[]): string[] {
  return (
    (asList(skills) ?? [])
      .filter(isJsonObject)
      .filter(({ id }) => !wanted || wanted.includes(String(id)))
      .flatMap(({ examples }) => (asList(examples) ?? []).filter((each) => typeof each === 'string'))
      // What is still to be filled in is nothing to say.
      .filter((each) => !/\{\w+\}/.test(each))
  );
}

/** Finds messages that lead somewhere: as the person said, as the fixtures have it, or as it was learned on the way. */
export class PromptCatalog {
  readonly #ways: Map<TargetOutcome, MessageDraft>;
  readonly #examples: readonly string[];

  constructor(ways: OutcomePrompts, examples: readonly string[]) {
    this.#ways = new Map(Object.entries(ways) as [TargetOutcome, MessageDraft][]);
    this.#examples = examples;
  }

  /** A message of which nobody knows where it leads, but which the agent says that it understands. */
  anyPrompt(): MessageDraft {
    return this.#fresh(this.#ways.get('completed') ?? { text: this.#examples[0] ?? 'hello' });
  }

  knows(want: TargetOutcome): boolean {
    return this.#ways.has(want) || want === 'completed';
  }

  /** @throws Inconclusive when nobody knows how. */
  promptFor(want: TargetOutcome): MessageDraft {
    const way = this.#ways.get(want);
    if (way) return this.#fresh(way);
    if (want === 'completed') return this.anyPrompt();
    throw new InconclusiveError(
      `Nobody knows a message that leads to "${want}". Name one in a scenario file (${want}: { text: … }), or let the agent obey the texts of --fixtures fx.`,
    );
  }

  /** Notes where a message led, so that later checks can go there too. */
  learn(want: TargetOutcome, draft: MessageDraft): void {
    if (!this.#ways.has(want)) this.#ways.set(want, draft);
  }

  #fresh(draft: MessageDraft): MessageDraft {
    const messageId =
      draft.messageId === undefined ? crypto.randomUUID() : `${draft.messageId}-${crypto.randomUUID()}`;
    return { ...draft, messageId };
  }
}
