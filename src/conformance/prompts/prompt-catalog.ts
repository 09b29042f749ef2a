import { InconclusiveError } from '../check-errors.ts';
import type { SkillExample } from './example-responses.ts';
import type { MessageDraft } from '../drivers/protocol-driver.ts';
import type { NormalizedTask } from '../drivers/normalized-views.ts';

/** Outcomes that a prompt can lead to. */
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

/** An outcome that a prompt can lead to. */
export type TargetOutcome = (typeof targetOutcomes)[number];

/** Prompt for each outcome; undefined if unknown. */
export type OutcomePrompts = { readonly [outcome in TargetOutcome]?: MessageDraft };

/** Prompts understood by the fixture agents of this project. */
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

/** Message ids understood by agents written for the official TCK. Each is a prefix of the id that is sent. */
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

/** Provides prompts for outcomes: configured by the user, or learned from responses. */
export class PromptCatalog {
  readonly #prompts: Map<TargetOutcome, MessageDraft>;
  readonly #configured: ReadonlySet<TargetOutcome>;
  readonly #firstExample: string | undefined;
  readonly #used = new Set<TargetOutcome>();

  private constructor(
    prompts: Map<TargetOutcome, MessageDraft>,
    configured: ReadonlySet<TargetOutcome>,
    firstExample: string | undefined,
  ) {
    this.#prompts = prompts;
    this.#configured = configured;
    this.#firstExample = firstExample;
  }

  static create(configured: OutcomePrompts, examples: readonly SkillExample[]): PromptCatalog {
    const prompts = new Map(Object.entries(configured) as [TargetOutcome, MessageDraft][]);
    return new PromptCatalog(prompts, new Set(prompts.keys()), examples[0]?.text);
  }

  /** Returns the same prompts, which record those that one check uses. */
  forCheck(): PromptCatalog {
    return new PromptCatalog(this.#prompts, this.#configured, this.#firstExample);
  }

  /**
   * Returns the outcomes whose prompts were used and come from the user, who may be wrong about them. Any state that a
   * message for `completed` leads to is accepted.
   */
  sentByUser(): TargetOutcome[] {
    return [...this.#used].filter(
      (each) => each !== 'completed' && this.#configured.has(each) && !this.isFixture(each),
    );
  }

  /** Returns a message that the agent claims to understand; its outcome is not known. */
  anyPrompt(): MessageDraft {
    return this.#withFreshId(this.#prompts.get('completed') ?? { text: this.#firstExample ?? 'hello' });
  }

  knows(outcome: TargetOutcome): boolean {
    return this.#prompts.has(outcome) || outcome === 'completed';
  }

  /** @throws InconclusiveError if no prompt is known. */
  promptFor(outcome: TargetOutcome): MessageDraft {
    const prompt = this.#prompts.get(outcome);
    this.#used.add(outcome);
    if (prompt) return this.#withFreshId(prompt);
    if (outcome === 'completed') return this.anyPrompt();
    throw new InconclusiveError(`No prompt known for target state "${outcome}".`, {
      kind: 'prompt',
      outcome,
    });
  }

  /** Returns true if the agent implements fixtures, so that the prompt must lead to the outcome. */
  isFixture(outcome: TargetOutcome): boolean {
    const prompt = this.#prompts.get(outcome);
    return prompt !== undefined && [fixturePrompts, tckPrompts].some((each) => each[outcome] === prompt);
  }

  /** Stores a prompt for the outcomes of its task, or of the direct message if there is none, unless one is configured. */
  learn(prompt: MessageDraft, task: NormalizedTask | undefined): void {
    const hasArtifacts = task?.state === 'completed' && (task.artifacts ?? []).length > 0;
    const reached = task ? [task.state, ...(hasArtifacts ? ['artifact'] : [])] : ['message'];
    for (const outcome of targetOutcomes.filter((each) => reached.includes(each)))
      if (!this.#prompts.has(outcome)) this.#prompts.set(outcome, prompt);
  }

  #withFreshId(draft: MessageDraft): MessageDraft {
    const messageId =
      draft.messageId === undefined ? crypto.randomUUID() : `${draft.messageId}-${crypto.randomUUID()}`;
    return { ...draft, messageId };
  }
}
