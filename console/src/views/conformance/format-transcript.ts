import type { TranscriptEntry } from '../../../../src/conformance/report/transcript.ts';
import { prettyPrint } from '../traffic/pretty-print.ts';

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** A request as it went out, its body laid out. */
export function formatRequest({ request: { method, url, headers, body } }: TranscriptEntry): string {
  const head = [`${method} ${url}`, ...headerLines(headers)];
  return [...head, ...(body === undefined ? [] : ['', prettyPrint(body).text])].join('\n');
}

/** An answer as it came: its body laid out, or its events with the time of each. */
export function formatResponse({
  response: { status, headers, body, events },
  end,
}: TranscriptEntry): string {
  const head = [status === 0 ? 'no answer' : `HTTP ${status}`, ...headerLines(headers)];
  const rest = events
    ? events.map(({ at, text }) => `+${at} ms\n${prettyPrint(text).text}\n`)
    : [prettyPrint(body).text];
  return [...head, '', ...rest, ...(end === undefined ? [] : [`(${end})`])].join('\n').trimEnd();
}
