/** A message with its prefix. */
export interface PrefixedMessage {
  readonly flag: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

/** Splits the data of a stream into messages: one byte of flags, four bytes of length, then the message. */
export class GrpcMessageReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Bytes that are not yet a complete message. */
  get incompleteBytes(): number {
    return this.#rest.length;
  }

  push(chunk: Buffer): PrefixedMessage[] {
    const messages: PrefixedMessage[] = [];
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 5) {
      const length = this.#rest.readUInt32BE(1);
      if (this.#rest.length < 5 + length) break;
      messages.push({ flag: this.#rest[0] ?? 0, length, bytes: this.#rest.subarray(5, 5 + length) });
      this.#rest = this.#rest.subarray(5 + length);
    }
    return messages;
  }
}

/** Adds the prefix of an uncompressed message. */
export function prefixMessage(message: Uint8Array, flag = 0): Uint8Array {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
