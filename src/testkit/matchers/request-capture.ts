import { A2AError } from '../../protocol/errors.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { TestAgentServer } from '../test-agent-server.ts';
import { formatValue } from './format-value.ts';

/** What matchers look at: a test agent, or whatever captures as one does. */
export type RequestCapture = Pick<TestAgentServer, 'journal' | 'receivedMessages' | 'canceledTaskIds'>;

/** @throws A2AError when a test gave something else. */
export function toRequestCapture(actual: unknown, matcher: string): RequestCapture {
  if (typeof (actual as Partial<RequestCapture> | null | undefined)?.journal?.entries === 'function')
    return actual as RequestCapture;
  throw new A2AError(
    'INVALID_PARAMS',
    `${matcher} looks at a TestAgentServer, not at ${formatValue(actual)}`,
  );
}

/** How many requests are shown; the newest. */
const maxLines = 30;

/** What a test agent was asked, in the order of time, for people who wonder what happened. */
export function formatTimeline({ journal }: RequestCapture): string[] {
  const entries = journal.entries();
  const first = entries[0]?.time;
  const left = entries.length - maxLines;
  return [
    'What the agent was asked:',
    ...(first === undefined ? ['  nothing'] : []),
    ...(left > 0 ? [`  … ${left} before`] : []),
    ...entries.slice(-maxLines).flatMap((entry) => entryLines(entry, first ?? entry.time)),
  ];
}

function entryLines(
  { time, request, call, origin, nearMisses, response: answer }: JournalEntry,
  first: string,
): string[] {
  const since = `${Date.parse(time) - Date.parse(first)} ms`.padStart(9);
  const words = call?.message ? ` ${formatValue(joinTextParts(call.message))}` : '';
  const asked = call ? `${call.operation} (${call.version ?? '?'} ${call.transport})` : 'not understood';
  const frames = answer?.frames ? `, ${answer.frames.length} events` : '';
  const end = answer && answer.end !== 'finished' ? `, ${answer.end}` : '';
  const answered = answer ? `${answer.status}${frames}${end}` : 'no answer yet';
  const ids = call?.taskId === undefined ? '' : ` task ${call.taskId}`;
  return [
    `  ${since}  ${request.method} ${request.path} ${asked}${words}${ids} → ${answered}`,
    ...(origin === undefined ? [] : [`             by ${origin}`]),
    ...(nearMisses ?? []).map(({ rule, mismatches }) => `             not ${rule}: ${mismatches.join('; ')}`),
  ];
}

/** The text parts, joined by line breaks, as rules of scripts see them. */
export function joinTextParts({ parts }: { readonly parts: readonly object[] }): string {
  return parts
    .flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}
