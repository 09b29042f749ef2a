/** Bytes as they pass, up to a limit. */
export class ByteCapture {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** True when more passed than was kept. */
  isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns how many bytes were kept. */
  take(chunk: unknown, encoding?: unknown): number {
    const bytes = bytesOf(chunk, encoding);
    if (!bytes) return 0;
    const kept = bytes.subarray(0, this.#limit - this.#size);
    if (kept.length < bytes.length) this.isCut = true;
    if (kept.length > 0) this.#chunks.push(kept);
    this.#size += kept.length;
    return kept.length;
  }

  /** What was kept. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Lets go of what was kept. */
  clear(): void {
    this.#chunks = [];
  }
}

function bytesOf(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined;
}
