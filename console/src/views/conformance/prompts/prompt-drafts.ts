import type { OutcomePrompts, TargetOutcome } from '../../../../../src/conformance/prompts/prompt-catalog.ts';

/** What each outcome means, in the order of the editor. */
export const outcomes: readonly { readonly outcome: TargetOutcome; readonly means: string }[] = [
  { outcome: 'completed', means: 'The task ends with success.' },
  { outcome: 'artifact', means: 'The task ends with a file or another artifact.' },
  { outcome: 'slow', means: 'The task works for some seconds, so that it can be canceled.' },
  { outcome: 'chunks', means: 'An artifact is streamed in several chunks.' },
  { outcome: 'input-required', means: 'The agent asks a question.' },
  { outcome: 'auth-required', means: 'The agent asks for credentials.' },
  { outcome: 'message', means: 'The agent replies with a message, without a task.' },
  { outcome: 'failed', means: 'The task fails.' },
  { outcome: 'rejected', means: 'The agent rejects the task.' },
  { outcome: 'echo', means: 'The result contains the text of the message.' },
];

/** A message as typed. */
export interface PromptDraft {
  readonly text: string;
  /** True if the text is a message in JSON, with `text`, `parts`, `metadata` or `messageId`. */
  readonly isJson: boolean;
}

/** The messages as typed, by outcome. */
export type PromptDrafts = { readonly [outcome in TargetOutcome]?: PromptDraft };

/** Returns the saved messages for the editor: those with more than a text as JSON. */
export function toDrafts(prompts: OutcomePrompts): PromptDrafts {
  return Object.fromEntries(
    Object.entries(prompts).map(([outcome, prompt]): [string, PromptDraft] => {
      const isJson = prompt.text === undefined || Object.keys(prompt).length > 1;
      return [outcome, { text: isJson ? JSON.stringify(prompt, undefined, 2) : (prompt.text ?? ''), isJson }];
    }),
  );
}

/** Returns the messages to save; empty ones are left out. @throws Error if a JSON message is invalid */
export function fromDrafts(drafts: PromptDrafts): OutcomePrompts {
  return Object.fromEntries(
    Object.entries(drafts)
      .filter(([, { text }]) => text.trim() !== '')
      .map(([outcome, { text, isJson }]) => [outcome, isJson ? parseMessage(text, outcome) : { text }]),
  );
}

function parseMessage(text: string, outcome: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`The message for ${outcome} is not JSON.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error(`The message for ${outcome} must be a JSON object.`);
}
