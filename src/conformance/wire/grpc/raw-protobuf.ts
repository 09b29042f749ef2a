/** One field of a protobuf message, as on the wire. */
export interface RawField {
  readonly number: number;
  /** 0: varint, 1: 8 bytes, 2: length-delimited, 5: 4 bytes. */
  readonly wireType: number;
  /** The value of a varint. */
  readonly integer: bigint;
  /** The bytes of all other wire types. */
  readonly bytes: Uint8Array;
}

const noBytes = new Uint8Array();

/**
 * Splits a message into its fields, in the order of the wire. It is separate from the reader of the product, so that the
 * suite does not repeat its errors.
 *
 * @returns the reason as a string if the bytes are not a message.
 */
export function readRawFields(bytes: Uint8Array): RawField[] | string {
  const fields: RawField[] = [];
  let at = 0;
  const readVarint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  while (at < bytes.length) {
    const start = at;
    const tag = readVarint();
    if (tag === undefined) return `an incomplete tag at byte ${start}`;
    const [number, wireType] = [Number(tag >> 3n), Number(tag & 7n)];
    if (number === 0 || number > 536_870_911) return `the field number ${number} at byte ${start}`;
    if (wireType === 0) {
      const integer = readVarint();
      if (integer === undefined) return `an incomplete number in field ${number}`;
      fields.push({ number, wireType, integer, bytes: noBytes });
      continue;
    }
    const length = wireType === 2 ? readVarint() : { 1: 8n, 5: 4n }[wireType];
    if (length === undefined) return `the wire type ${wireType} in field ${number}`;
    const end = at + Number(length);
    if (end > bytes.length) return `field ${number} ends after the message`;
    fields.push({ number, wireType, integer: 0n, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return fields;
}

/** Writes the fields of a message. */
export class RawProtobufWriter {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  varint(number: number, value: bigint): void {
    this.#add(varintBytes(BigInt(number) << 3n));
    this.#add(varintBytes(BigInt.asUintN(64, value)));
  }

  double(number: number, value: number): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#add(varintBytes((BigInt(number) << 3n) | 1n));
    this.#add(bytes);
  }

  /** Writes bytes, or the fields of a nested message, which are not copied. */
  bytes(number: number, value: Uint8Array | RawProtobufWriter): void {
    const isMessage = value instanceof RawProtobufWriter;
    this.#add(varintBytes((BigInt(number) << 3n) | 2n));
    this.#add(varintBytes(BigInt(isMessage ? value.#length : value.length)));
    for (const chunk of isMessage ? value.#chunks : [value]) this.#add(chunk);
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#length);
  }

  #add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }
}

function varintBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? byte : byte | 0x80);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
