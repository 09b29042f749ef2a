import { type HttpExchange, isEventStream } from '../wire/http-exchange.ts';
import { formatCurlCommand } from '../../primitives/formats/curl-command.ts';
import { redactedPlaceholder, type Redactor } from '../../primitives/redaction/redaction.ts';
import { truncate } from '../../primitives/text.ts';

/** One HTTP exchange in a report, redacted and truncated. */
export interface TranscriptEntry {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    /** 0 if no response was received. */
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    /** Trailers of a call over gRPC. */
    readonly trailers?: Readonly<Record<string, string>>;
    /** Events of a stream; `at` is the time since the request, in milliseconds. */
    readonly events?: readonly { readonly at: number; readonly text: string }[];
  };
  /** How the response ended; missing if it is complete. */
  readonly end?: string;
  readonly duration_ms: number;
  /** A curl command that repeats the request. */
  readonly curl: string;
}

const maxCharacters = 8_192;
const maxEvents = 40;

/** Redacts and truncates an exchange. */
export function toTranscriptEntry(exchange: HttpExchange, redactor: Redactor): TranscriptEntry {
  const { method, requestBody, status, frames, end, transportError, totalMs, grpc } = exchange;
  const events = frames.slice(0, maxEvents).map(({ at, fields }) => ({
    at: Math.round(at),
    text: shorten(
      redactor.redactText(fields.map(([name, value]) => `${name}: ${value}`).join('\n')),
      maxCharacters / 4,
    ),
  }));
  const omitted = frames.length - events.length;
  return {
    request: {
      method,
      url: redactor.redactUrl(exchange.url),
      headers: redactor.redactHeaders(exchange.requestHeaders),
      ...(requestBody === undefined ? {} : { body: shorten(redactor.redactText(requestBody)) }),
    },
    response: {
      status,
      headers: redactor.redactHeaders(exchange.headers),
      body: frames.length > 0 ? '' : shorten(redactor.redactText(exchange.body)),
      ...(grpc ? { trailers: redactor.redactHeaders(grpc.trailers) } : {}),
      ...(frames.length === 0
        ? {}
        : {
            events:
              omitted > 0
                ? [...events, { at: events.at(-1)?.at ?? 0, text: `… and ${omitted} more` }]
                : events,
          }),
    },
    ...(end === 'complete'
      ? {}
      : { end: transportError === undefined ? end : `${end}: ${redactor.redactText(transportError)}` }),
    duration_ms: Math.round(totalMs),
    curl: formatCurlCommand({
      method,
      url: redactor.redactUrl(exchange.url),
      headers: {
        ...(grpc ? { 'content-type': 'application/grpc+proto', te: 'trailers' } : {}),
        ...redactor.redactHeaders(exchange.requestHeaders),
      },
      http2Bytes: grpc && printableBytes(exchange, redactor),
      body: requestBody === undefined ? undefined : redactor.redactText(requestBody),
      isStream: isEventStream(exchange) || exchange.requestHeaders.accept === 'text/event-stream',
    }),
  };
}

/** Returns the bytes of a call, or none if they contain a secret, which cannot be removed from them. */
function printableBytes({ requestBody = '', grpc }: HttpExchange, redactor: Redactor): string {
  const isSecret = redactor.redactText(requestBody) !== requestBody;
  return isSecret ? redactedPlaceholder : (grpc?.requestBytes ?? '');
}

function shorten(text: string, maxLength: number = maxCharacters): string {
  return truncate(text, maxLength, { showLength: true });
}
