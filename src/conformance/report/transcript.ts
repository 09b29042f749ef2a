import { type HttpExchange, isEventStream } from '../wire/http-exchange.ts';
import { formatCurlCommand } from '../../primitives/formats/curl-command.ts';
import type { Redactor } from '../../primitives/redaction.ts';

/** One request and its answer, as a report shows them: without secrets, and not endless. */
export interface TranscriptEntry {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    /** Zero when no answer came. */
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    /** When each event of a stream came, in milliseconds, and what it was. */
    readonly events?: readonly { readonly at: number; readonly text: string }[];
  };
  /** How it ended, where it did not end by itself. */
  readonly end?: string;
  readonly duration_ms: number;
  /** A command that asks the same again. */
  readonly curl: string;
}

const maxText = 8_192;
const maxEvents = 40;

/** An exchange for others to see. */
export function toTranscriptEntry(exchange: HttpExchange, secrets: Redactor): TranscriptEntry {
  const { method, requestBody, status, frames, end, transportError: trouble, totalMs: endAfter } = exchange;
  const shown = frames.slice(0, maxEvents).map(({ at, fields }) => ({
    at: Math.round(at),
    text: short(
      secrets.redactText(fields.map(([name, value]) => `${name}: ${value}`).join('\n')),
      maxText / 4,
    ),
  }));
  const left = frames.length - shown.length;
  return {
    request: {
      method,
      url: secrets.redactUrl(exchange.url),
      headers: secrets.redactHeaders(exchange.requestHeaders),
      ...(requestBody === undefined ? {} : { body: short(secrets.redactText(requestBody)) }),
    },
    response: {
      status,
      headers: secrets.redactHeaders(exchange.headers),
      body: frames.length > 0 ? '' : short(secrets.redactText(exchange.body)),
      ...(frames.length === 0
        ? {}
        : {
            events: left > 0 ? [...shown, { at: shown.at(-1)?.at ?? 0, text: `… and ${left} more` }] : shown,
          }),
    },
    ...(end === 'complete'
      ? {}
      : { end: trouble === undefined ? end : `${end}: ${secrets.redactText(trouble)}` }),
    duration_ms: Math.round(endAfter),
    curl: formatCurlCommand({
      method,
      url: secrets.redactUrl(exchange.url),
      headers: secrets.redactHeaders(exchange.requestHeaders),
      body: requestBody === undefined ? undefined : secrets.redactText(requestBody),
      isStream: isEventStream(exchange) || exchange.requestHeaders.accept === 'text/event-stream',
    }),
  };
}

function short(text: string, most: number = maxText): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
}
