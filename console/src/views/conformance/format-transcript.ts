import type { TranscriptEntry } from '../../../../src/conformance/report/transcript.ts';
import { prettyPrint } from '../traffic/pretty-print.ts';

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** Formats a request. */
export function formatRequest({ request: { method, url, headers, body } }: TranscriptEntry): string {
  const head = [`${method} ${url}`, ...headerLines(headers)];
  return [...head, ...(body === undefined ? [] : ['', prettyPrint(body).text])].join('\n');
}

/** Formats a response: its body, or its events with their times. */
export function formatResponse({
  response: { status, headers, body, events },
  end,
}: TranscriptEntry): string {
  const head = [status === 0 ? 'no response' : `HTTP ${status}`, ...headerLines(headers)];
  const rest = events
    ? events.map(({ at, text }) => `+${at} ms\n${prettyPrint(text).text}\n`)
    : [prettyPrint(body).text];
  return [...head, '', ...rest, ...(end === undefined ? [] : [`(${end})`])].join('\n').trimEnd();
}
