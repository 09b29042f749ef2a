/** A frame of a server-sent event stream, as it came. */
export interface RawFrame {
  /** The fields in order, such as `['data', '{…}']`; comments have the name `''`. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The `data` lines, joined; undefined for a frame without one. */
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** Milliseconds since the request was sent. */
  readonly at: number;
}

/** How an answer ended. */
export type ResponseEnd = 'complete' | 'truncated' | 'timeout' | 'too-large' | 'aborted' | 'failed';

/** One request and what came back, as it was on the wire. */
export interface HttpExchange {
  readonly number: number;
  readonly method: string;
  readonly url: string;
  /** What was sent, with credentials. Reports remove them. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  /** Zero when no answer came. */
  readonly status: number;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer as text; of a stream, what was read of it. */
  readonly body: string;
  /** The answer was not UTF-8. */
  readonly hasInvalidUtf8: boolean;
  /** The frames, where the answer was a stream of events. */
  readonly frames: readonly RawFrame[];
  readonly end: ResponseEnd;
  /** Why no answer came, or why it ended early. */
  readonly transportError: string | undefined;
  /** Milliseconds until the head and until the end. */
  readonly headersMs: number;
  readonly totalMs: number;
}

/** True when the answer says that it is a stream of events. */
export function isEventStream({ headers }: Pick<HttpExchange, 'headers'>): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

const keptCharacters = 65_536;
const keptFrames = 100;

/** What is kept of an exchange as evidence, so that an agent that says too much does not fill our memory. */
export function toEvidence(exchange: HttpExchange): HttpExchange {
  const { body, frames } = exchange;
  if (body.length <= keptCharacters && frames.length <= keptFrames) return exchange;
  // Many rules may hold on to one exchange.
  let keepsake = keepsakes.get(exchange);
  if (!keepsake) {
    keepsake = {
      ...exchange,
      body: copied(body.slice(0, keptCharacters)),
      frames: frames.slice(0, keptFrames).map(copyOf),
    };
    keepsakes.set(exchange, keepsake);
  }
  return keepsake;
}

const keepsakes = new WeakMap<HttpExchange, HttpExchange>();

/** A piece of a text holds on to all of it, unless it is copied. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}

function copyOf(frame: RawFrame): RawFrame {
  const data = frame.data === undefined ? undefined : copied(frame.data.slice(0, keptCharacters));
  return {
    ...frame,
    data,
    fields: frame.fields.map(([name, value]) => [name, copied(value.slice(0, keptCharacters))]),
  };
}
