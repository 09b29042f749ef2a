import { MalformedMessageError } from './byte-reader.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import { prefixSize } from './length-prefix.ts';

/** Splits the bytes of a response into the messages of its frames. */
export class FrameReader {
  readonly #limit: number;
  /** Bytes of a frame that is not complete. */
  #rest: Uint8Array = new Uint8Array();
  /** The message that is being received, if its size is known and its bytes are not all in one chunk. */
  #message: Uint8Array | undefined;
  #received = 0;

  /** @param limit - bytes of a message at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True between two frames. */
  get isComplete(): boolean {
    return this.#rest.length === 0 && this.#message === undefined;
  }

  /**
   * Adds bytes, and returns the messages that are complete now. They may share the memory of the bytes.
   *
   * @throws `FrameTooLargeError`, or `MalformedMessageError` for compressed messages.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    const messages: Uint8Array[] = [];
    let bytes = this.#message ? this.#fill(this.#message, chunk, messages) : join(this.#rest, chunk);
    while (bytes.length >= prefixSize) {
      const length = this.#length(bytes);
      const end = prefixSize + length;
      if (bytes.length < end) {
        // One buffer of the right size, so that a large message is not copied again and again.
        this.#message = new Uint8Array(length);
        this.#received = 0;
        bytes = this.#fill(this.#message, bytes.subarray(prefixSize), messages);
        break;
      }
      messages.push(bytes.subarray(prefixSize, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return messages;
  }

  /** Copies bytes into the message. @returns the bytes after it */
  #fill(message: Uint8Array, chunk: Uint8Array, messages: Uint8Array[]): Uint8Array {
    const size = Math.min(chunk.length, message.length - this.#received);
    message.set(chunk.subarray(0, size), this.#received);
    this.#received += size;
    if (this.#received === message.length) {
      messages.push(message);
      this.#message = undefined;
    }
    return chunk.subarray(size);
  }

  #length(bytes: Uint8Array): number {
    if (bytes[0] !== 0) throw new MalformedMessageError('compressed messages are not supported');
    const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
    if (length > this.#limit) throw new FrameTooLargeError(`${length} bytes, more than ${this.#limit}`);
    return length;
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
