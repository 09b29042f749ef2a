import type { Message } from '../../protocol/message.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { type RequestCapture, toRequestCapture, joinTextParts, formatTimeline } from './request-capture.ts';
import { type PartialValue, formatMismatches, findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { type MatcherResult, matcherResult } from './matcher-result.ts';

/** Expected message: its text, a regular expression for the text, or a partial message. */
export type ExpectedMessage =
  | string
  | RegExp
  | (PartialValue<Message> & {
      /** All text parts, joined by line breaks. */
      readonly text?: string | RegExp;
      /** Request headers by lower-case name. */
      readonly headers?: { readonly [name: string]: string | RegExp };
      /** Number of matching messages. @defaultValue at least one */
      readonly count?: number;
    });

/** Matcher: a test agent has received a message, by default any. */
export function matchReceivedMessage(server: RequestCapture, expected: ExpectedMessage = {}): MatcherResult {
  const captured = toRequestCapture(server, 'toHaveReceivedMessage');
  const { receivedMessages } = captured;
  const { count, ...pattern } =
    typeof expected === 'string' || expected instanceof RegExp ? { text: expected } : expected;
  const compared = receivedMessages.map((entry) => findMismatches(pattern, matchableMessage(entry)));
  const matching = compared.filter(({ length }) => length === 0).length;
  return matcherResult(count === undefined ? matching > 0 : matching === count, {
    failed: () => {
      const [closest] = compared.filter(({ length }) => length > 0).toSorted((a, b) => a.length - b.length);
      return [
        `Expected the agent to have received ${formatCount(count)} matching ${formatValue(pattern)}`,
        `Received messages: ${receivedMessages.length}, of which ${matching} match`,
        ...(closest ? ['Closest other message:', ...formatMismatches(closest, '  ')] : []),
        ...formatTimeline(captured),
      ];
    },
    passed: () => [
      `Expected the agent not to have received ${formatCount(count)} matching ${formatValue(pattern)}`,
      ...formatTimeline(captured),
    ],
  });
}

function matchableMessage({ call, request }: JournalEntry): object {
  return { ...call?.message, text: call?.message && joinTextParts(call.message), headers: request.headers };
}

function formatCount(count: number | undefined): string {
  return count === undefined ? 'a message' : count === 1 ? '1 message' : `${count} messages`;
}
