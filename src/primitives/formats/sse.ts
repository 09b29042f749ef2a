/** One server-sent event. */
export interface ServerSentEvent {
  data: string;
  event: string | undefined;
  /** Unlike in browsers, the `id:` is not inherited from earlier events. */
  id: string | undefined;
}

/** Response headers of an event stream; they disable caching and buffering in proxies. */
export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Comment that keeps an idle connection alive. */
export const sseHeartbeat = ':\n\n';

/** Formats an event, including the empty line that ends it. */
export function formatSseEvent({ data, event, id }: Partial<ServerSentEvent> & { data: string }): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

/** Parses the text of a single event with line feeds as line ends. Comments have empty data. */
export function parseSseFrame(text: string): ServerSentEvent {
  const data: string[] = [];
  const frame: ServerSentEvent = { data: '', event: undefined, id: undefined };
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event' || name === 'id') frame[name] = value;
  }
  frame.data = data.join('\n');
  return frame;
}

/** Callbacks of {@link SseParser}. */
export interface SseHandlers {
  event(event: ServerSentEvent): void;
  /** Called with the reconnection delay that the server requests, in milliseconds. */
  retry?(milliseconds: number): void;
}

/** Thrown when a line or the data of an event exceeds the limit of the parser. */
export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLarge';
}

/** Pieces of a line that are joined into one. */
const piecesPerBlock = 1_024;

const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = 0xfeff;

/** Parses a `text/event-stream` in chunks of bytes. Events without a closing empty line are dropped. */
export class SseParser {
  readonly #handlers: SseHandlers;
  readonly #limit: number;
  // Decodes complete characters only: engines do that several times faster than streaming decoding.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** First bytes of an incomplete character. */
  #tail: Uint8Array | undefined;
  #hasStarted = false;
  /** Pieces of the incomplete last line. */
  #pending: string[] = [];
  /** Joined pieces: many small strings take more memory than their text. */
  #pendingBlocks: string[] = [];
  #pendingLength = 0;
  /** The last chunk ended with a carriage return; a line feed at the start of the next one belongs to it. */
  #afterReturn = false;
  /** Values of the `data` lines. */
  #data: string[] | undefined;
  /** Length of the lines of the event so far. */
  #eventLength = 0;
  #event: string | undefined;
  #id: string | undefined;

  /** @param limit - maximum length of a line, and of all lines of an event without comments, in characters. */
  constructor(handlers: SseHandlers, limit: number = Number.POSITIVE_INFINITY) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  /**
   * Parses the next bytes.
   *
   * @throws {@link FrameTooLargeError}
   */
  push(chunk: Uint8Array): void {
    const decoded = this.#decode(chunk);
    if (decoded === '') return;
    let from = 0;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      if (decoded.charCodeAt(0) === byteOrderMark) from = 1;
    }
    if (this.#afterReturn) {
      this.#afterReturn = false;
      if (decoded.charCodeAt(0) === lineFeed) from = 1;
    }
    if (this.#pendingLength > 0) from = this.#completeLine(decoded, from);
    const rest = this.#parseLines(decoded, from);
    if (rest < decoded.length) this.#buffer(decoded.slice(rest));
  }

  #decode(chunk: Uint8Array): string {
    let bytes = chunk;
    if (this.#tail) {
      bytes = new Uint8Array(this.#tail.length + chunk.length);
      bytes.set(this.#tail);
      bytes.set(chunk, this.#tail.length);
      this.#tail = undefined;
    }
    const whole = completeCharacters(bytes);
    if (whole === bytes.length) return this.#decoder.decode(bytes);
    this.#tail = bytes.slice(whole);
    return this.#decoder.decode(bytes.subarray(0, whole));
  }

  /** Completes the pending line if it ends in `text`. @returns the offset of the next line */
  #completeLine(text: string, from: number): number {
    const end = findLineEnd(text, from);
    if (end === -1) {
      if (from < text.length) this.#buffer(text.slice(from));
      return text.length;
    }
    const line = this.#pendingBlocks.join('') + this.#pending.join('') + text.slice(from, end);
    this.#pendingBlocks = [];
    this.#pending = [];
    this.#pendingLength = 0;
    this.#parseLine(line, 0, line.length);
    return this.#afterEnd(text, end);
  }

  #buffer(text: string): void {
    if (this.#pending.push(text) >= piecesPerBlock) {
      this.#pendingBlocks.push(this.#pending.join(''));
      this.#pending = [];
    }
    this.#pendingLength += text.length;
    if (this.#pendingLength > this.#limit)
      throw new FrameTooLargeError(`Line exceeds ${this.#limit} characters`);
  }

  /** Parses the complete lines of `text`. @returns the offset of the incomplete one */
  #parseLines(text: string, from: number): number {
    const hasReturns = text.includes('\r', from);
    let start = from;
    for (;;) {
      const end = hasReturns ? findLineEnd(text, start) : text.indexOf('\n', start);
      if (end === -1) return start;
      this.#parseLine(text, start, end);
      start = hasReturns ? this.#afterEnd(text, end) : end + 1;
    }
  }

  /** Returns the offset after a line end; a carriage return and a line feed are one line end. */
  #afterEnd(text: string, end: number): number {
    const next = end + 1;
    if (text.charCodeAt(end) !== carriageReturn) return next;
    if (next === text.length) this.#afterReturn = true;
    return text.charCodeAt(next) === lineFeed ? next + 1 : next;
  }

  #parseLine(text: string, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
      return;
    }
    if (end - start > this.#limit) throw new FrameTooLargeError(`Line exceeds ${this.#limit} characters`);
    // Searching behind the end of the line would take quadratic time.
    let colon = text.startsWith('data:', start) ? start + 4 : start + text.slice(start, end).indexOf(':');
    if (text.charCodeAt(start) === 58) return;
    this.#eventLength += end - start;
    if (this.#eventLength > this.#limit)
      throw new FrameTooLargeError(`Event exceeds ${this.#limit} characters`);
    if (colon < start) colon = end;
    let value = colon + 1;
    if (value < end && text.charCodeAt(value) === 32) value++;
    this.#field(text.slice(start, colon), value < end ? text.slice(value, end) : '');
  }

  #field(name: string, value: string): void {
    switch (name) {
      case 'data':
        if (this.#data) this.#data.push(value);
        else this.#data = [value];
        break;
      case 'event':
        this.#event = value;
        break;
      case 'id':
        if (!value.includes('\0')) this.#id = value;
        break;
      case 'retry':
        if (/^\d{1,9}$/.test(value)) this.#handlers.retry?.(Number(value));
        break;
    }
  }

  #dispatch(): void {
    const [data, event, id] = [this.#data, this.#event, this.#id];
    this.#data = undefined;
    this.#eventLength = 0;
    this.#event = undefined;
    this.#id = undefined;
    if (data !== undefined)
      this.#handlers.event({
        data: data.length === 1 ? (data[0] as string) : data.join('\n'),
        event: event === '' ? undefined : event,
        id,
      });
  }
}

/** Returns the number of bytes before an incomplete UTF-8 character, which has at most three bytes. */
function completeCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] as number;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? length - back : length;
  }
  return length;
}

function findLineEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === lineFeed || code === carriageReturn) return at;
  }
  return -1;
}
