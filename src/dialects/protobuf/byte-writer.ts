import { writePrefix } from './length-prefix.ts';

const encoder = new TextEncoder();

/** Length of text, in characters, up to which a loop is faster than `TextEncoder`. */
const shortText = 48;

const initialSize = 1_024;

/** Size up to which the buffer is used again for the next message. */
const maxReusedSize = 64 * 1_024;

/** Size up to which the buffer doubles when it is full. */
const maxDoubledSize = 1_024 * 1_024;

/** Bytes for the lengths around a large value, which become known after it. */
const slack = 256;

/** Writes the primitive formats of protocol buffers into a buffer that grows. */
export class ByteWriter {
  #bytes = new Uint8Array(initialSize);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;

  /** Returns the written bytes, and starts anew. */
  finish(): Uint8Array {
    const end = this.#end;
    this.#end = 0;
    if (end <= maxReusedSize) return this.#bytes.slice(0, end);
    const written = this.#bytes.subarray(0, end);
    this.#allocate(initialSize);
    return written;
  }

  /** Like {@link finish} for a frame, whose prefix was skipped. */
  finishFrame(): Uint8Array {
    writePrefix(this.#bytes, this.#end);
    return this.finish();
  }

  /** Returns the frame as text in which each character is a byte, and starts anew. For servers only. */
  finishFrameText(): string {
    const end = this.#end;
    writePrefix(this.#bytes, end);
    this.#end = 0;
    const text = Buffer.from(this.#bytes.buffer, 0, end).toString('latin1');
    if (end > maxReusedSize) this.#allocate(initialSize);
    return text;
  }

  /** Discards what was written, after an error. */
  discard(): void {
    this.#end = 0;
  }

  /** Leaves bytes out that are written later. */
  skip(size: number): void {
    this.#reserve(size);
    this.#end += size;
  }

  /** Writes an unsigned integer below 2^53, or a negative one of 64 bits. */
  varint(value: number): void {
    this.#reserve(10);
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      while (rest > 127n) {
        this.#bytes[this.#end++] = Number(rest & 127n) | 128;
        rest >>= 7n;
      }
      this.#bytes[this.#end++] = Number(rest);
      return;
    }
    while (value > 127) {
      this.#bytes[this.#end++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#end++] = value;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#end, value, true);
    this.#end += 8;
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
  }

  /** Writes text with its length. Lone surrogates become U+FFFD. */
  text(value: string): void {
    const { length } = value;
    if (length <= shortText && this.#ascii(value)) return;
    const start = this.begin();
    // UTF-8 has at most three bytes per UTF-16 code unit.
    this.#reserve(length * 3);
    this.#end += encoder.encodeInto(value, this.#bytes.subarray(this.#end)).written;
    this.end(start);
  }

  /** Begins a value that is preceded by its length. @returns the argument of {@link end} */
  begin(): number {
    this.#reserve(1);
    return ++this.#end;
  }

  /** Ends a value, and writes its length before it. */
  end(start: number): void {
    const length = this.#end - start;
    if (length < 128) {
      this.#bytes[start - 1] = length;
      return;
    }
    // The length needs more bytes than the one before the content.
    const content = start - 1 + varintSize(length);
    this.#reserve(content - start);
    this.#bytes.copyWithin(content, start, this.#end);
    this.#end = start - 1;
    this.varint(length);
    this.#end = content + length;
  }

  #ascii(value: string): boolean {
    const { length } = value;
    this.#reserve(length + 1);
    const start = this.#end;
    const bytes = this.#bytes;
    bytes[start] = length;
    for (let at = 0; at < length; at++) {
      const code = value.charCodeAt(at);
      if (code > 127) return false;
      bytes[start + 1 + at] = code;
    }
    this.#end = start + 1 + length;
    return true;
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#bytes.length) return;
    const written = this.#bytes.subarray(0, this.#end);
    const { length } = this.#bytes;
    // A large file is often all that is written: twice its size would be wasted.
    const grown = length < maxDoubledSize ? length * 2 : length + length / 4;
    this.#allocate(Math.max(Math.ceil(grown), this.#end + size + slack));
    this.#bytes.set(written);
  }

  #allocate(size: number): void {
    this.#bytes = new Uint8Array(size);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}
