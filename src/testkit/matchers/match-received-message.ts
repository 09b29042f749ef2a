import type { Message } from '../../protocol/message.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { type Captured, capturedBy, textIn, timelineLines } from './request-capture.ts';
import { type Like, unlikeLines, unlikenesses } from './partial-match.ts';
import { shown } from './format-value.ts';
import { type Verdict, verdict } from './matcher-result.ts';

/** A message that a test agent should have received: its text, an expression for it, or what matters of it. */
export type ExpectedMessage =
  | string
  | RegExp
  | (Like<Message> & {
      /** All the text parts, joined by line breaks. */
      readonly text?: string | RegExp;
      /** Headers of the request, by lower-case names. */
      readonly headers?: { readonly [name: string]: string | RegExp };
      /** How many such messages came. @defaultValue at least one */
      readonly count?: number;
    });

/** Finds whether a test agent has received a message; any at all when none is described. */
export function receivedMessage(server: Captured, expected: ExpectedMessage = {}): Verdict {
  const captured = capturedBy(server, 'toHaveReceivedMessage');
  const { received } = captured;
  const { count, ...wanted } =
    typeof expected === 'string' || expected instanceof RegExp ? { text: expected } : expected;
  const compared = received.map((entry) => unlikenesses(wanted, facts(entry)));
  const matching = compared.filter(({ length }) => length === 0).length;
  return verdict(count === undefined ? matching > 0 : matching === count, {
    failed: () => {
      const [closest] = compared.filter(({ length }) => length > 0).toSorted((a, b) => a.length - b.length);
      return [
        `Expected the agent to have received ${counted(count)} like ${shown(wanted)}`,
        `It received ${received.length}, of which ${matching} ${matching === 1 ? 'is' : 'are'} like that.`,
        ...(closest ? ['The closest other one:', ...unlikeLines(closest, '  ')] : []),
        ...timelineLines(captured),
      ];
    },
    passed: () => [
      `Expected the agent not to have received ${counted(count)} like ${shown(wanted)}`,
      ...timelineLines(captured),
    ],
  });
}

function facts({ call, request }: JournalEntry): object {
  return { ...call?.message, text: call?.message && textIn(call.message), headers: request.headers };
}

function counted(count: number | undefined): string {
  return count === undefined ? 'a message' : count === 1 ? '1 message' : `${count} messages`;
}
