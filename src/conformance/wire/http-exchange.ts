import type { IncomingHttpHeaders } from 'node:http';
import type { GrpcFacts } from './grpc/grpc-facts.ts';

/** `User-Agent` of the requests of conformance tests, by which servers and recordings can tell them apart. */
export const suiteUserAgent = 'dragoman-conformance';

/** One frame of an SSE stream or one message of a gRPC stream, as received. */
export interface RawFrame {
  /** Fields in order, such as `['data', '{…}']`; comments have the name `''`. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The joined `data` lines, undefined if the frame has none; a message as ProtoJSON. */
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** Milliseconds since the request was sent. */
  readonly at: number;
}

/** How a response ended. `truncated`: by the server or network; `aborted`: by the suite; `failed`: no connection. */
export type ResponseEnd = 'complete' | 'truncated' | 'timeout' | 'too-large' | 'aborted' | 'failed';

/** One HTTP request with its response, as on the wire. */
export interface HttpExchange {
  readonly number: number;
  readonly method: string;
  readonly url: string;
  /** Includes credentials; reports redact them. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  /** 0 if no response was received. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The response text; for a stream, the first 256 KiB. Over gRPC the message or the status as ProtoJSON. */
  readonly body: string;
  /** True if the response is not valid UTF-8. */
  readonly hasInvalidUtf8: boolean;
  /** Frames of an SSE response. */
  readonly frames: readonly RawFrame[];
  readonly end: ResponseEnd;
  /** Reason for a missing or incomplete response. */
  readonly transportError: string | undefined;
  /** Milliseconds until the response headers. */
  readonly headersMs: number;
  /** Milliseconds until the end of the response. */
  readonly totalMs: number;
  /** Undefined unless the request was a call of gRPC. */
  readonly grpc?: GrpcFacts;
}

/** Returns true if the Content-Type is `text/event-stream`. */
export function isEventStream({ headers }: Pick<HttpExchange, 'headers'>): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** Returns 401 or 403 if the request was rejected because of its credentials, also for the matching status of gRPC. */
export function authStatus({ status, grpc }: Pick<HttpExchange, 'status' | 'grpc'>): 401 | 403 | undefined {
  if (status === 401 || grpc?.status.name === 'UNAUTHENTICATED') return 401;
  return status === 403 || grpc?.status.name === 'PERMISSION_DENIED' ? 403 : undefined;
}

/** Joins repeated headers with commas. */
export function flattenHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}

const maxCharacters = 65_536;
const maxFrames = 100;

/** Returns the exchange, truncated to limit the memory that large responses use. */
export function toEvidence(exchange: HttpExchange): HttpExchange {
  const { body, frames } = exchange;
  if (body.length <= maxCharacters && frames.length <= maxFrames) return exchange;
  // Many violations can refer to the same exchange.
  let evidence = truncated.get(exchange);
  if (!evidence) {
    evidence = {
      ...exchange,
      body: copyText(body.slice(0, maxCharacters)),
      frames: frames.slice(0, maxFrames).map(copyFrame),
    };
    truncated.set(exchange, evidence);
  }
  return evidence;
}

const truncated = new WeakMap<HttpExchange, HttpExchange>();

/** Copies a substring: in V8 a slice keeps the whole original string alive. */
function copyText(text: string): string {
  return Buffer.from(text).toString();
}

function copyFrame(frame: RawFrame): RawFrame {
  const data = frame.data === undefined ? undefined : copyText(frame.data.slice(0, maxCharacters));
  return {
    ...frame,
    data,
    fields: frame.fields.map(([name, value]) => [name, copyText(value.slice(0, maxCharacters))]),
  };
}
