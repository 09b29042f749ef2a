/** Copies bytes up to a limit. */
export class ByteCapture {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** True if bytes beyond the limit were dropped. */
  isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns the number of stored bytes. */
  append(chunk: unknown, encoding?: unknown): number {
    const bytes = toBuffer(chunk, encoding);
    if (!bytes) return 0;
    const stored = bytes.subarray(0, this.#limit - this.#size);
    if (stored.length < bytes.length) this.isTruncated = true;
    if (stored.length > 0) this.#chunks.push(stored);
    this.#size += stored.length;
    return stored.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  clear(): void {
    this.#chunks = [];
  }
}

function toBuffer(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined;
}
