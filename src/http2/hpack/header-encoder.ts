import { defaultTableSize, fieldOverhead, staticSize, staticTable } from './static-table.ts';

/** Names and values by turns, names in lower case, pseudo-headers first. */
export type HeaderList = readonly string[];

/**
 * Names whose values are often the same on a connection, so that they are stored in the dynamic table of the peer. The
 * values of all others are sent each time; proxies must not store those of credentials either.
 */
const storedNames: ReadonlySet<string> = new Set([
  ':authority',
  ':path',
  'a2a-version',
  'content-type',
  'grpc-accept-encoding',
  'grpc-encoding',
  'grpc-status',
  'grpc-timeout',
  'te',
  'user-agent',
]);

/** Headers that no one on the way may store. */
const secretNames: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
]);

/** Longer values are not stored, in characters. */
const maxStoredLength = 256;

const staticFields = new Map<string, number>();
const staticNames = new Map<string, number>();
for (const [index, [name, value]] of staticTable.entries()) {
  if (index === 0) continue;
  if (!staticNames.has(name)) staticNames.set(name, index);
  if (value !== '') staticFields.set(`${name}\0${value}`, index);
}

/** Encodes the header blocks of one connection (RFC 7541), as text in which each character is a byte. */
export class HeaderEncoder {
  /** Numbers of the stored fields, in the order in which they were stored. Nothing is ever evicted. */
  readonly #stored = new Map<string, number>();
  #freeBytes = defaultTableSize;
  /** Announces a smaller table, before the next field. */
  #resize = '';
  /** Blocks of lists that are used again, until another field is stored. */
  readonly #blocks = new Map<HeaderList, string>();

  /** Called when the peer announces the size of its table. A larger one than the default is not used. */
  setTableSize(size: number): void {
    const used = Math.min(size, defaultTableSize);
    this.#stored.clear();
    this.#blocks.clear();
    this.#freeBytes = used;
    // The first empties the table.
    this.#resize = `${integer(0, 5, 0x20)}${integer(used, 5, 0x20)}`;
  }

  /**
   * Encodes a list.
   *
   * @param isReused - true for a constant, whose block is kept.
   * @throws TypeError if a name or value cannot be sent.
   */
  encode(list: HeaderList, isReused = false): string {
    if (isReused && this.#resize === '') {
      const known = this.#blocks.get(list);
      if (known !== undefined) return known;
    }
    const count = this.#stored.size;
    const freeBytes = this.#freeBytes;
    let fields = '';
    try {
      for (let at = 0; at + 1 < list.length; at += 2)
        fields += this.#field(list[at] as string, list[at + 1] as string);
    } catch (thrown) {
      // The peer does not store fields that are not sent.
      for (const [key, number] of this.#stored) if (number >= count) this.#stored.delete(key);
      this.#freeBytes = freeBytes;
      throw thrown;
    }
    const block = this.#resize + fields;
    this.#resize = '';
    if (this.#stored.size > count) this.#blocks.clear();
    else if (isReused && block === fields) this.#blocks.set(list, block);
    return block;
  }

  #field(name: string, value: string): string {
    const key = `${name}\0${value}`;
    const known = staticFields.get(key);
    if (known !== undefined) return integer(known, 7, 0x80);
    const number = this.#stored.get(key);
    if (number !== undefined) return integer(staticSize + this.#stored.size - number, 7, 0x80);
    checkField(name, value);
    const size = name.length + value.length + fieldOverhead;
    if (!storedNames.has(name) || value.length > maxStoredLength || size > this.#freeBytes)
      return literal(name, value, 4, secretNames.has(name) ? 0x10 : 0);
    const text = literal(name, value, 6, 0x40);
    this.#freeBytes -= size;
    this.#stored.set(key, this.#stored.size);
    return text;
  }
}

function literal(name: string, value: string, prefix: number, pattern: number): string {
  const index = staticNames.get(name);
  const start =
    index === undefined ? `${String.fromCharCode(pattern)}${text(name)}` : integer(index, prefix, pattern);
  return start + text(value);
}

function text(value: string): string {
  return integer(value.length, 7, 0) + value;
}

/** Encodes an integer with a prefix of some bits, of which the others are a pattern. */
function integer(value: number, prefix: number, pattern: number): string {
  const mask = (1 << prefix) - 1;
  if (value < mask) return String.fromCharCode(pattern | value);
  let bytes = String.fromCharCode(pattern | mask);
  let rest = value - mask;
  for (; rest > 127; rest >>= 7) bytes += String.fromCharCode((rest & 127) | 128);
  return bytes + String.fromCharCode(rest);
}

/** Characters of values: visible ones, spaces and tabs within, and bytes above ASCII. */
const validValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const validName = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;

function checkField(name: string, value: string): void {
  if (!validName.test(name)) throw new TypeError(`The name of the header ${JSON.stringify(name)} is invalid`);
  if (!validValue.test(value)) throw new TypeError(`The value of the header ${name} has invalid characters`);
}
