import { A2AError } from '../../protocol/errors.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { TestAgentServer } from '../test-agent-server.ts';
import { formatValue } from './format-value.ts';

/** Source of captured requests for matchers, such as a test agent. */
export type RequestCapture = Pick<TestAgentServer, 'journal' | 'receivedMessages' | 'canceledTaskIds'>;

/** @throws A2AError `INVALID_PARAMS` if the value is not a test agent. */
export function toRequestCapture(actual: unknown, matcher: string): RequestCapture {
  if (typeof (actual as Partial<RequestCapture> | null | undefined)?.journal?.entries === 'function')
    return actual as RequestCapture;
  throw new A2AError('INVALID_PARAMS', `${matcher} expects a TestAgentServer, got ${formatValue(actual)}`);
}

/** Maximum number of requests in a message; the newest are shown. */
const maxLines = 30;

/** Formats the requests of a test agent in chronological order. */
export function formatTimeline({ journal }: RequestCapture): string[] {
  const entries = journal.entries();
  const first = entries[0]?.time;
  const omitted = entries.length - maxLines;
  return [
    'Requests to the agent:',
    ...(first === undefined ? ['  none'] : []),
    ...(omitted > 0 ? [`  … ${omitted} earlier requests`] : []),
    ...entries.slice(-maxLines).flatMap((entry) => entryLines(entry, first ?? entry.time)),
  ];
}

function entryLines(
  { time, request, call, origin, nearMisses, response }: JournalEntry,
  first: string,
): string[] {
  const since = `${Date.parse(time) - Date.parse(first)} ms`.padStart(9);
  const text = call?.message ? ` ${formatValue(joinTextParts(call.message))}` : '';
  const operation = call ? `${call.operation} (${call.version ?? '?'} ${call.transport})` : '(not decoded)';
  const frames = response?.frames ? `, ${response.frames.length} events` : '';
  const end = response && response.end !== 'finished' ? `, ${response.end}` : '';
  const result = response ? `${response.status}${frames}${end}` : 'no response yet';
  const ids = call?.taskId === undefined ? '' : ` task ${call.taskId}`;
  return [
    `  ${since}  ${request.method} ${request.path} ${operation}${text}${ids} → ${result}`,
    ...(origin === undefined ? [] : [`             by ${origin}`]),
    ...(nearMisses ?? []).map(({ rule, mismatches }) => `             not ${rule}: ${mismatches.join('; ')}`),
  ];
}

/** Joins the text parts by line breaks. */
export function joinTextParts({ parts }: { readonly parts: readonly object[] }): string {
  return parts
    .flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}
