import { http2Codes, Http2Error } from '../http2-error.ts';
import { decodeHuffman } from './huffman.ts';
import { defaultTableSize, fieldOverhead, staticSize, staticTable } from './static-table.ts';

/** Bounds of a header list. */
export interface HeaderListLimits {
  /** Bytes of names and values, with 32 bytes for each field. */
  readonly maxBytes: number;
  readonly maxFields: number;
}

/** Decodes the header blocks of one connection (RFC 7541). */
export class HeaderDecoder {
  readonly #limits: HeaderListLimits;
  /** The dynamic table: names and values by turns, the oldest first. */
  readonly #table: string[] = [];
  #tableBytes = 0;
  #maxTableBytes = defaultTableSize;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;
  #fields: string[] = [];
  #listBytes = 0;
  /** Increases with every change of the table: the same block means the same fields until then. */
  changes = 0;

  constructor(limits: HeaderListLimits) {
    this.#limits = limits;
  }

  /**
   * Decodes a block into names and values by turns. The table remains valid even if the list exceeds its limits.
   *
   * @returns undefined for a list that exceeds the limits.
   * @throws {@link Http2Error}
   */
  decode(block: Buffer): readonly string[] | undefined {
    this.#block = block;
    this.#at = 0;
    this.#fields = [];
    this.#listBytes = 0;
    let isStart = true;
    while (this.#at < block.length) {
      const first = block[this.#at] as number;
      if (first >= 0x80) this.#readIndexed();
      else if (first >= 0x40) this.#readLiteral(6, true);
      else if (first < 0x20) this.#readLiteral(4, false);
      else if (isStart) {
        this.#resize(this.#readInteger(5));
        continue;
      } else throw invalid('the size of the table changes within a block');
      isStart = false;
    }
    const fields = this.#fields;
    this.#fields = [];
    this.#block = emptyBlock;
    return this.#isTooLarge(fields.length / 2) ? undefined : fields;
  }

  #readIndexed(): void {
    const index = this.#readInteger(7);
    const known = index > 0 && index <= staticSize ? staticTable[index] : undefined;
    if (known) this.#add(known[0], known[1]);
    else {
      const at = this.#entryAt(index);
      this.#add(this.#table[at] as string, this.#table[at + 1] as string);
    }
  }

  #readLiteral(prefix: number, isStored: boolean): void {
    const index = this.#readInteger(prefix);
    let name: string;
    if (index === 0) name = this.#readText();
    else if (index <= staticSize) name = (staticTable[index] as readonly [string, string])[0];
    else name = this.#table[this.#entryAt(index)] as string;
    const value = this.#readText();
    this.#add(name, value);
    if (isStored) this.#store(name, value);
  }

  /** Adds a field to the list. Those beyond the limits are only counted. */
  #add(name: string, value: string): void {
    this.#listBytes += name.length + value.length + fieldOverhead;
    if (!this.#isTooLarge(this.#fields.length / 2)) this.#fields.push(name, value);
  }

  #isTooLarge(count: number): boolean {
    return this.#listBytes > this.#limits.maxBytes || count > this.#limits.maxFields;
  }

  /** Returns the position of an entry of the dynamic table, whose newest one has the lowest index. */
  #entryAt(index: number): number {
    const at = this.#table.length - 2 * (index - staticSize);
    if (index === 0 || at < 0) throw invalid('there is no entry with this index');
    return at;
  }

  #store(name: string, value: string): void {
    this.changes++;
    const size = name.length + value.length + fieldOverhead;
    this.#evict(this.#maxTableBytes - size);
    // An entry that is larger than the table empties it.
    if (size > this.#maxTableBytes) return;
    this.#table.push(name, value);
    this.#tableBytes += size;
  }

  #resize(size: number): void {
    if (size > defaultTableSize) throw invalid('the table is larger than announced');
    this.changes++;
    this.#maxTableBytes = size;
    this.#evict(size);
  }

  /** Removes the oldest entries until the table has at most the given size. */
  #evict(maxBytes: number): void {
    let count = 0;
    while (this.#tableBytes > maxBytes && count < this.#table.length) {
      const name = this.#table[count] as string;
      const value = this.#table[count + 1] as string;
      this.#tableBytes -= name.length + value.length + fieldOverhead;
      count += 2;
    }
    if (count > 0) this.#table.splice(0, count);
  }

  #readInteger(prefix: number): number {
    const mask = (1 << prefix) - 1;
    let value = this.#readByte() & mask;
    if (value < mask) return value;
    // More than four bytes would exceed any length and index.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#readByte();
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw invalid('an integer is too large');
  }

  #readText(): string {
    const isHuffman = ((this.#block[this.#at] as number) & 0x80) !== 0;
    const length = this.#readInteger(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#block.length) throw invalid('a header block is not complete');
    this.#at = end;
    return isHuffman ? decodeHuffman(this.#block, start, end) : this.#block.toString('latin1', start, end);
  }

  #readByte(): number {
    if (this.#at >= this.#block.length) throw invalid('a header block is not complete');
    return this.#block[this.#at++] as number;
  }
}

const emptyBlock = Buffer.alloc(0);

function invalid(problem: string): Http2Error {
  return new Http2Error(http2Codes.compressionError, problem);
}
