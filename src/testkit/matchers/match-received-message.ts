import type { Message } from '../../protocol/message.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { type RequestCapture, toRequestCapture, joinTextParts, formatTimeline } from './request-capture.ts';
import { type PartialValue, formatMismatches, findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { type MatcherResult, matcherResult } from './matcher-result.ts';

/** A message that a test agent should have received: its text, an expression for it, or what matters of it. */
export type ExpectedMessage =
  | string
  | RegExp
  | (PartialValue<Message> & {
      /** All the text parts, joined by line breaks. */
      readonly text?: string | RegExp;
      /** Headers of the request, by lower-case names. */
      readonly headers?: { readonly [name: string]: string | RegExp };
      /** How many such messages came. @defaultValue at least one */
      readonly count?: number;
    });

/** Finds whether a test agent has received a message; any at all when none is described. */
export function matchReceivedMessage(server: RequestCapture, expected: ExpectedMessage = {}): MatcherResult {
  const captured = toRequestCapture(server, 'toHaveReceivedMessage');
  const { receivedMessages: received } = captured;
  const { count, ...wanted } =
    typeof expected === 'string' || expected instanceof RegExp ? { text: expected } : expected;
  const compared = received.map((entry) => findMismatches(wanted, facts(entry)));
  const matching = compared.filter(({ length }) => length === 0).length;
  return matcherResult(count === undefined ? matching > 0 : matching === count, {
    failed: () => {
      const [closest] = compared.filter(({ length }) => length > 0).toSorted((a, b) => a.length - b.length);
      return [
        `Expected the agent to have received ${counted(count)} like ${formatValue(wanted)}`,
        `It received ${received.length}, of which ${matching} ${matching === 1 ? 'is' : 'are'} like that.`,
        ...(closest ? ['The closest other one:', ...formatMismatches(closest, '  ')] : []),
        ...formatTimeline(captured),
      ];
    },
    passed: () => [
      `Expected the agent not to have received ${counted(count)} like ${formatValue(wanted)}`,
      ...formatTimeline(captured),
    ],
  });
}

function facts({ call, request }: JournalEntry): object {
  return { ...call?.message, text: call?.message && joinTextParts(call.message), headers: request.headers };
}

function counted(count: number | undefined): string {
  return count === undefined ? 'a message' : count === 1 ? '1 message' : `${count} messages`;
}
