import { MalformedMessageError } from './byte-reader.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import { prefixSize } from './length-prefix.ts';

const empty = new Uint8Array();

/** Splits bytes into the messages of their frames. */
export class FrameReader {
  readonly #limit: number;
  readonly #allowsCompression: boolean;
  /** Bytes of a prefix that is not complete. */
  #rest: Uint8Array = empty;
  /** Parts of the message that is being received: they are copied once, and need no memory before they arrive. */
  #parts: Uint8Array[] = [];
  /** Bytes of the message that have not arrived. */
  #missing = 0;
  #compressed: WeakSet<Uint8Array> | undefined = undefined;
  /** True if the last message is compressed. */
  isCompressed = false;

  /**
   * @param limit - bytes of a message at most.
   * @param allowsCompression - true if the caller decompresses messages.
   */
  constructor(limit: number, allowsCompression = false) {
    this.#limit = limit;
    this.#allowsCompression = allowsCompression;
  }

  /** True between two frames. */
  get isComplete(): boolean {
    return this.#rest.length === 0 && this.#missing === 0;
  }

  /**
   * Adds bytes, and returns the messages that are complete now. They may share the memory of the bytes.
   *
   * @throws `FrameTooLargeError`, or `MalformedMessageError` for compressed messages, unless they are allowed.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    const messages: Uint8Array[] = [];
    const bytes = this.#missing > 0 ? this.#fill(chunk, messages) : this.#withRest(chunk);
    const { length } = bytes;
    let at = 0;
    while (length - at >= prefixSize) {
      let end = at + prefixSize;
      try {
        end += this.#readPrefix(bytes, at);
      } catch (thrown) {
        // The next call throws: the messages in front are complete.
        if (messages.length > 0) break;
        throw thrown;
      }
      if (length < end) {
        this.#missing = end - length;
        this.#parts = [bytes.subarray(at + prefixSize)];
        at = length;
        break;
      }
      this.#add(bytes.subarray(at + prefixSize, end), messages);
      at = end;
    }
    this.#rest = at < length ? bytes.subarray(at) : empty;
    return messages;
  }

  /** True if a message that was returned is compressed. */
  wasCompressed(message: Uint8Array): boolean {
    return this.#compressed?.has(message) ?? false;
  }

  #add(message: Uint8Array, messages: Uint8Array[]): void {
    if (this.isCompressed) (this.#compressed ??= new WeakSet()).add(message);
    messages.push(message);
  }

  #withRest(chunk: Uint8Array): Uint8Array {
    return this.#rest.length > 0 ? join([this.#rest, chunk]) : chunk;
  }

  /** Adds bytes to the message. @returns the bytes after it */
  #fill(chunk: Uint8Array, messages: Uint8Array[]): Uint8Array {
    const size = Math.min(chunk.length, this.#missing);
    this.#parts.push(chunk.subarray(0, size));
    this.#missing -= size;
    if (this.#missing === 0) {
      this.#add(join(this.#parts), messages);
      this.#parts = [];
    }
    return chunk.subarray(size);
  }

  /** Returns the length of the message. */
  #readPrefix(bytes: Uint8Array, at: number): number {
    const flags = bytes[at] ?? 0;
    if (flags > 1) throw new MalformedMessageError('the frame of the message has unknown flags');
    this.isCompressed = flags === 1;
    if (this.isCompressed && !this.#allowsCompression)
      throw new MalformedMessageError('compressed messages are not supported');
    const byte = (index: number): number => bytes[at + index] ?? 0;
    const length = ((byte(1) << 24) | (byte(2) << 16) | (byte(3) << 8) | byte(4)) >>> 0;
    if (length > this.#limit) throw new FrameTooLargeError(`${length} bytes, more than ${this.#limit}`);
    return length;
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...more] = parts.filter(({ length }) => length > 0);
  if (!first || more.length === 0) return first ?? new Uint8Array();
  let size = 0;
  for (const { length } of parts) size += length;
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
