/** Element types of arrays, with their ids in the catalog of PostgreSQL. */
const elementTypes = { boolean: 16, bigint: 20, integer: 23, text: 25 } as const;

/** Bytes before the elements: dimensions, flags, element type, length and lower bound. */
const headerSize = 20;

/**
 * Encodes one-dimensional arrays as PostgreSQL sends them in binary format. The text format needs quotes and escapes around
 * every JSON document, which the database has to remove again.
 */
export const binaryArrays = {
  text: (values: readonly (string | null)[]): Buffer => {
    const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)));
    const size = lengths.reduce((sum, length) => sum + 4 + Math.max(0, length), 0);
    const buffer = allocate('text', values.length, size);
    let at = headerSize;
    for (const [index, value] of values.entries()) {
      at = buffer.writeInt32BE(lengths[index] ?? -1, at);
      if (value !== null) at += buffer.write(value, at);
    }
    return buffer;
  },

  integer: (values: readonly number[]): Buffer => {
    const buffer = allocate('integer', values.length, values.length * 8);
    let at = headerSize;
    for (const value of values) at = buffer.writeInt32BE(value, buffer.writeInt32BE(4, at));
    return buffer;
  },

  bigint: (values: readonly number[]): Buffer => {
    const buffer = allocate('bigint', values.length, values.length * 12);
    let at = headerSize;
    for (const value of values) {
      at = buffer.writeInt32BE(8, at);
      at = buffer.writeInt32BE(Math.floor(value / 2 ** 32), at);
      at = buffer.writeUInt32BE(value % 2 ** 32, at);
    }
    return buffer;
  },

  boolean: (values: readonly boolean[]): Buffer => {
    const buffer = allocate('boolean', values.length, values.length * 5);
    let at = headerSize;
    for (const value of values) at = buffer.writeUInt8(value ? 1 : 0, buffer.writeInt32BE(1, at));
    return buffer;
  },
};

function allocate(type: keyof typeof elementTypes, count: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(headerSize + size);
  const dimensions = 1;
  const hasNulls = type === 'text' ? 1 : 0;
  let at = 0;
  for (const value of [dimensions, hasNulls, elementTypes[type], count, 1])
    at = buffer.writeInt32BE(value, at);
  return buffer;
}
