const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes up to which a loop is faster than `TextDecoder`. */
const shortText = 10;

/** Bytes up to which a text may be an id. */
const maxRepeatedText = 64;

/** ASCII texts that were read last. */
const recentTexts: string[] = Array.from({ length: 256 }, () => '');

const maxVarintSize = 10;

/** Thrown for bytes that are no message; its message tells a client what is wrong. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Thrown for a message with more objects, lists and members than allowed. */
export class TooManyMembersError extends MalformedMessageError {}

/** Bytes of Node, whose method is faster than `TextDecoder`. */
interface TextBytes extends Uint8Array {
  utf8Slice?(start: number, end: number): string;
}

/** Reads the primitive formats of protocol buffers. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #view: DataView | undefined = undefined;
  #at = 0;
  /** End of the innermost message. */
  #end: number;
  #membersLeft: number;

  /** @param maxMembers - objects, lists and members of objects that may be counted */
  constructor(bytes: Uint8Array, maxMembers = Infinity) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#membersLeft = maxMembers;
  }

  /** True at the end of the innermost message. */
  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Counts an object, a list or a member of an object: few bytes on the wire, many in memory. */
  countMember(): void {
    if (--this.#membersLeft < 0)
      throw new TooManyMembersError('the message has too many objects, lists and members');
  }

  /** Enters the message that follows, preceded by its length. @returns the argument of {@link leave} */
  enter(): number {
    const outer = this.#end;
    const length = this.#length();
    this.#end = this.#at + length;
    return outer;
  }

  /** Leaves a message that was read to its end. */
  leave(outer: number): void {
    this.#end = outer;
  }

  /** Reads an unsigned integer. Of integers above 2^53, digits are lost. */
  varint(): number {
    const first = this.#bytes[this.#at] as number;
    // Most tags and lengths have one byte.
    if (this.#at < this.#end && first < 128) {
      this.#at++;
      return first;
    }
    let value = 0;
    let factor = 1;
    for (let count = 0; count < maxVarintSize; count++) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw new MalformedMessageError('an integer has more than 10 bytes');
  }

  /** Reads a signed integer of 64 bits. */
  int64(): number {
    let small = 0;
    let factor = 1;
    // Seven bytes have 49 bits, all others have a sign.
    for (let count = 0; count < 7; count++) {
      const byte = this.#byte();
      small += (byte & 127) * factor;
      if (byte < 128) return small;
      factor *= 128;
    }
    let value = BigInt(small);
    for (let count = 7; count < maxVarintSize; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << BigInt(7 * count);
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
    throw new MalformedMessageError('an integer has more than 10 bytes');
  }

  /** Reads a signed integer of 32 bits; larger ones are truncated. */
  int32(): number {
    return this.int64() | 0;
  }

  double(): number {
    this.#require(8);
    this.#view ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  /** Reads bytes preceded by their length. The result shares the memory of the message. */
  bytes(): Uint8Array {
    const length = this.#length();
    const value = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  text(): string {
    const length = this.#length();
    const start = this.#at;
    this.#at += length;
    if (length > shortText && length <= maxRepeatedText) return this.#repeatedText(start, length);
    if (length <= shortText) {
      let text = '';
      for (let at = start; at < this.#at; at++) {
        const byte = this.#bytes[at] ?? 0;
        if (byte > 127) return this.#decode(start);
        text += String.fromCharCode(byte);
      }
      return text;
    }
    return this.#decode(start);
  }

  /** Skips a field of an unknown number. */
  skip(wireType: number, depth = 0): void {
    switch (wireType) {
      case 0:
        this.varint();
        return;
      case 1:
        this.#require(8);
        this.#at += 8;
        return;
      case 2:
        this.bytes();
        return;
      case 3:
        this.#skipGroup(depth + 1);
        return;
      case 5:
        this.#require(4);
        this.#at += 4;
        return;
      default:
        throw new MalformedMessageError(`there is no wire type ${wireType}`);
    }
  }

  #skipGroup(depth: number): void {
    if (depth > 100) throw new MalformedMessageError('groups are nested too deeply');
    for (;;) {
      const tag = this.varint();
      if (tag % 8 === 4) return;
      this.skip(tag % 8, depth);
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new MalformedMessageError('the message ends within an integer');
    return this.#bytes[this.#at++] ?? 0;
  }

  /** Reads a text that is probably an id, which each event of a stream repeats: comparing it is cheaper than decoding it. */
  #repeatedText(start: number, length: number): string {
    const bytes = this.#bytes;
    const end = this.#at;
    const slot =
      ((bytes[start + 3] as number) * 31 + (bytes[end - 1] as number) + length) & (recentTexts.length - 1);
    const known = recentTexts[slot] as string;
    if (known.length === length) {
      let at = start;
      while (at < end && bytes[at] === known.charCodeAt(at - start)) at++;
      // Characters that have one byte are the same in both encodings only if they are ASCII.
      if (at === end) return known;
    }
    const text = this.#decode(start);
    // Other texts have fewer characters than bytes.
    if (text.length === length) recentTexts[slot] = text;
    return text;
  }

  #decode(start: number): string {
    const bytes = this.#bytes as TextBytes;
    if (bytes.utf8Slice) {
      const text = bytes.utf8Slice(start, this.#at);
      // This character also stands for bytes that are not UTF-8.
      if (!text.includes('\ufffd')) return text;
    }
    try {
      return decoder.decode(this.#bytes.subarray(start, this.#at));
    } catch {
      throw new MalformedMessageError('a text is not UTF-8');
    }
  }

  #length(): number {
    const length = this.varint();
    this.#require(length);
    return length;
  }

  #require(length: number): void {
    if (this.#at + length > this.#end) throw new MalformedMessageError('the message ends within a field');
  }
}
