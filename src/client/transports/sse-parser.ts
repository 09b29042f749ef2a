/** One server-sent event. */
export interface ServerSentEvent {
  data: string;
  /** The `event:` of this event, if it had one. */
  event: string | undefined;
  /** The `id:` of this event, if it had one; unlike in a browser it is not inherited from earlier events. */
  id: string | undefined;
}

/** What the parser hands out. */
export interface SseHandlers {
  event(event: ServerSentEvent): void;
  /** The peer asks for another delay before reconnecting, in milliseconds. */
  retry?(milliseconds: number): void;
}

/** A line or an event is longer than the parser takes. */
export class FrameTooLargeError extends Error {
  override readonly name = 'FrameTooLarge';
}

const lineFeed = 10;
const carriageReturn = 13;
const byteOrderMark = 0xfeff;

/**
 * Reads a `text/event-stream`, fed in chunks that may be cut anywhere, even inside a character.
 *
 * An event that was not closed by an empty line is not an event and is dropped.
 */
export class SseParser {
  readonly #handlers: SseHandlers;
  readonly #limit: number;
  // Whole characters only, which engines decode several times faster than in their streaming mode.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The beginning of a character whose end is not there yet. */
  #tail: Uint8Array | undefined;
  #begun = false;
  /** The line that is not finished yet, in the pieces that came. */
  #rest: string[] = [];
  #restLength = 0;
  /** A carriage return ended the last chunk; a line feed now would belong to it. */
  #afterReturn = false;
  #data: string | undefined;
  #event: string | undefined;
  #id: string | undefined;

  /** @param limit - the longest line and the longest data of an event, in characters. */
  constructor(handlers: SseHandlers, limit: number = Number.POSITIVE_INFINITY) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  /** Takes the next bytes. Throws {@link FrameTooLargeError}. */
  push(chunk: Uint8Array): void {
    const decoded = this.#decode(chunk);
    if (decoded === '') return;
    let from = 0;
    if (!this.#begun) {
      this.#begun = true;
      if (decoded.charCodeAt(0) === byteOrderMark) from = 1;
    }
    if (this.#afterReturn) {
      this.#afterReturn = false;
      if (decoded.charCodeAt(0) === lineFeed) from = 1;
    }
    if (this.#rest.length > 0) from = this.#completeLine(decoded, from);
    const rest = this.#lines(decoded, from);
    if (rest < decoded.length) this.#keep(decoded.slice(rest));
  }

  #decode(chunk: Uint8Array): string {
    let bytes = chunk;
    if (this.#tail) {
      bytes = new Uint8Array(this.#tail.length + chunk.length);
      bytes.set(this.#tail);
      bytes.set(chunk, this.#tail.length);
      this.#tail = undefined;
    }
    const whole = wholeCharacters(bytes);
    if (whole === bytes.length) return this.#decoder.decode(bytes);
    this.#tail = bytes.slice(whole);
    return this.#decoder.decode(bytes.subarray(0, whole));
  }

  /** Ends the line that earlier chunks began, if it ends here, and says where to go on. */
  #completeLine(text: string, from: number): number {
    const end = endOfLine(text, from);
    if (end === -1) {
      if (from < text.length) this.#keep(text.slice(from));
      return text.length;
    }
    const line = this.#rest.join('') + text.slice(from, end);
    this.#rest = [];
    this.#restLength = 0;
    this.#line(line, 0, line.length);
    return this.#afterEnd(text, end);
  }

  #keep(text: string): void {
    this.#rest.push(text);
    this.#restLength += text.length;
    if (this.#restLength > this.#limit) throw new FrameTooLargeError(`a line is longer than ${this.#limit}`);
  }

  /** Handles the whole lines of `text` and says where the unfinished one begins. */
  #lines(text: string, from: number): number {
    const hasReturns = text.includes('\r', from);
    let start = from;
    for (;;) {
      const end = hasReturns ? endOfLine(text, start) : text.indexOf('\n', start);
      if (end === -1) return start;
      this.#line(text, start, end);
      start = hasReturns ? this.#afterEnd(text, end) : end + 1;
    }
  }

  /** Steps over the end of a line: a carriage return and a line feed are one end. */
  #afterEnd(text: string, end: number): number {
    const next = end + 1;
    if (text.charCodeAt(end) !== carriageReturn) return next;
    if (next === text.length) this.#afterReturn = true;
    return text.charCodeAt(next) === lineFeed ? next + 1 : next;
  }

  #line(text: string, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
      return;
    }
    if (end - start > this.#limit) throw new FrameTooLargeError(`a line is longer than ${this.#limit}`);
    let colon = text.indexOf(':', start);
    if (colon === start) return;
    if (colon === -1 || colon > end) colon = end;
    let value = colon + 1;
    if (value < end && text.charCodeAt(value) === 32) value++;
    this.#field(text.slice(start, colon), value < end ? text.slice(value, end) : '');
  }

  #field(name: string, value: string): void {
    switch (name) {
      case 'data':
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
        if (this.#data.length > this.#limit)
          throw new FrameTooLargeError(`an event is longer than ${this.#limit}`);
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
    this.#event = undefined;
    this.#id = undefined;
    if (data !== undefined) this.#handlers.event({ data, event: event === '' ? undefined : event, id });
  }
}

/** How many of the bytes make whole characters: up to three at the end may begin one that goes on. */
function wholeCharacters(bytes: Uint8Array): number {
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

function endOfLine(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === lineFeed || code === carriageReturn) return at;
  }
  return -1;
}
