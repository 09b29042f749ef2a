import type { Turn } from '../../../../src/conformance/report/transcript.ts';
import { laidOut } from '../traffic/pretty-print.ts';

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

/** A request as it went out, its body laid out. */
export function askedIn({ request: { method, url, headers, body } }: Turn): string {
  const head = [`${method} ${url}`, ...headerLines(headers)];
  return [...head, ...(body === undefined ? [] : ['', laidOut(body).text])].join('\n');
}

/** An answer as it came: its body laid out, or its events with the time of each. */
export function answeredIn({ response: { status, headers, body, events }, end }: Turn): string {
  const head = [status === 0 ? 'no answer' : `HTTP ${status}`, ...headerLines(headers)];
  const rest = events
    ? events.map(({ at, text }) => `+${at} ms\n${laidOut(text).text}\n`)
    : [laidOut(body).text];
  return [...head, '', ...rest, ...(end === undefined ? [] : [`(${end})`])].join('\n').trimEnd();
}
