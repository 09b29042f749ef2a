const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes up to which a loop is faster than `TextDecoder`. */
const shortText = 10;

/** Bytes of an id that is remembered. */
const maxIdSize = 64;

/** An id of ASCII characters and its bytes. */
interface RecentId {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Ids that were read last. */
const recentIds: RecentId[] = Array.from({ length: 256 }, () => ({ text: '', bytes: new Uint8Array() }));

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

  /** Reads an id. Each event of a stream repeats the ids: comparing one with the last is cheaper than decoding it. */
  id(): string {
    const start = this.#at;
    const bytes = this.#bytes;
    const length = bytes[start] as number;
    if (length <= shortText || length > maxIdSize) return this.text();
    const end = start + 1 + length;
    if (end > this.#end) return this.text();
    const slot =
      ((bytes[start + 4] as number) * 31 + (bytes[end - 1] as number) + length) & (recentIds.length - 1);
    const known = recentIds[slot] as RecentId;
    if (known.bytes.length === length) {
      let at = 0;
      while (at < length && bytes[start + 1 + at] === known.bytes[at]) at++;
      if (at === length) {
        this.#at = end;
        return known.text;
      }
    }
    const text = this.text();
    // Texts that are not ASCII have fewer characters than bytes.
    if (text.length === length)
      recentIds[slot] = { text, bytes: Uint8Array.from(bytes.subarray(start + 1, end)) };
    return text;
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
