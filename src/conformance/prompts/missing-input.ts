import type { TargetOutcome } from './prompt-catalog.ts';

/** What the user must provide so that a rule can be decided. */
export type MissingInput =
  /** A message that leads to an outcome. */
  | { readonly kind: 'prompt'; readonly outcome: TargetOutcome }
  /** Messages whose outcomes are certain. */
  | { readonly kind: 'fixtures' }
  | { readonly kind: 'credentials' }
  /** Credentials of a second user. */
  | { readonly kind: 'other-user' }
  /** Credentials of a user that may not send messages. */
  | { readonly kind: 'restricted-user' }
  /** More time for one task. */
  | { readonly kind: 'timeout' }
  /** More time for the run. */
  | { readonly kind: 'max-time' }
  | { readonly kind: 'max-messages' }
  /** A URL at which the agent reaches the webhook of the suite. */
  | { readonly kind: 'webhook-url' };

/** Returns a sentence that tells the user how to provide the missing input. */
export type Advise = (missing: MissingInput) => string;

/** Names the options of `dragoman conformance`. */
export const adviseForCommand: Advise = (missing) => {
  switch (missing.kind) {
    case 'prompt':
      return `Define one in a prompts file (${missing.outcome}: { text: … }), or implement the texts of --fixtures fx in the agent.`;
    case 'fixtures':
      return 'Use --fixtures if the agent implements them.';
    case 'credentials':
      return 'Pass credentials with --header.';
    case 'other-user':
      return 'Pass the credentials of another user with --other-user-header.';
    case 'restricted-user':
      return 'Pass the credentials of such a user with --restricted-user-header.';
    case 'timeout':
      return 'Raise --timeout.';
    case 'max-time':
      return 'Raise --max-time.';
    case 'max-messages':
      return 'Raise --max-messages.';
    case 'webhook-url':
      return 'Let the agent accept them for the test (dragoman: --allow-loopback-webhooks), or pass a URL that it can reach with --webhook-url.';
  }
};
