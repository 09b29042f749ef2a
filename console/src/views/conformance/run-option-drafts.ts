import { signal } from '@preact/signals';
import type { ConformanceInput, HeaderInput } from '../../../../src/console/console-api.ts';
import { isUrl } from '../../../../src/primitives/web/parse-url.ts';

/** Options that are typed as texts. */
export type DraftName = 'maxTime' | 'maxMessages' | 'otherUser' | 'restrictedUser' | 'webhookUrl';

/** The options as typed; empty for the default. */
export const optionDrafts = signal<{ readonly [name in DraftName]: string }>({
  maxTime: '',
  maxMessages: '',
  otherUser: '',
  restrictedUser: '',
  webhookUrl: '',
});

/** Returns what is wrong with an option; undefined if it is valid or empty. */
export function draftError(name: DraftName, text: string): string | undefined {
  if (text.trim() === '' || name in parseDrafts({ ...noDrafts, [name]: text })) return undefined;
  if (name === 'webhookUrl') return 'Enter an http or https URL.';
  return name === 'maxTime' || name === 'maxMessages'
    ? 'Enter a positive number.'
    : 'Enter a name, a colon and a value.';
}

const noDrafts: typeof optionDrafts.value = {
  maxTime: '',
  maxMessages: '',
  otherUser: '',
  restrictedUser: '',
  webhookUrl: '',
};

/** Returns the options of a run; invalid and empty ones are left out. */
export function parseDrafts(drafts: typeof optionDrafts.value): Pick<ConformanceInput, DraftName> {
  const seconds = Number(drafts.maxTime);
  const messages = Number(drafts.maxMessages);
  const otherUser = parseHeader(drafts.otherUser);
  const restrictedUser = parseHeader(drafts.restrictedUser);
  const webhookUrl = drafts.webhookUrl.trim();
  return {
    ...(seconds > 0 && { maxTime: Math.round(seconds * 1_000) }),
    ...(Number.isInteger(messages) && messages > 0 && { maxMessages: messages }),
    ...(otherUser && { otherUser }),
    ...(restrictedUser && { restrictedUser }),
    ...(/^https?:\/\//.test(webhookUrl) && isUrl(webhookUrl) && { webhookUrl }),
  };
}

function parseHeader(line: string): HeaderInput | undefined {
  const [, name, value] = /^([^:\s]+):\s*(\S.*)$/.exec(line.trim()) ?? [];
  return name !== undefined && value !== undefined ? { name, value } : undefined;
}
