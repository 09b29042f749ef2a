import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { A2AError } from '../../protocol/errors.ts';
import { wrapStorageErrors } from '../stores/content.ts';

/** Options of {@link Spool}. */
export interface SpoolOptions {
  /** Number of bytes in memory before the spool moves to a file. @defaultValue 1 MiB */
  readonly maxMemory?: number;
  readonly maxBytes: number;
  /** @defaultValue the system's temporary directory */
  readonly folder?: string;
}

/**
 * Buffers content that arrives in chunks: small content in memory, large content in a temporary file. The file is
 * unlinked after it is opened, so that nothing remains after a crash.
 */
export class Spool {
  readonly #options: SpoolOptions;
  #chunks: Uint8Array[] = [];
  #file: FileHandle | undefined;
  /** Number of bytes written. */
  size = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Appends a chunk. Must not be called concurrently. */
  async write(chunk: Uint8Array): Promise<void> {
    const { maxBytes, maxMemory = 1 << 20 } = this.#options;
    if (this.size + chunk.byteLength > maxBytes) {
      throw new A2AError('PAYLOAD_TOO_LARGE', `The file exceeds ${maxBytes} bytes`);
    }
    await wrapStorageErrors(async () => {
      if (!this.#file && this.size + chunk.byteLength > maxMemory) await this.#openFile();
      if (this.#file) await writeAll(this.#file, chunk, this.size);
      else this.#chunks.push(new Uint8Array(chunk));
    });
    this.size += chunk.byteLength;
  }

  async #openFile(): Promise<void> {
    const path = join(this.#options.folder ?? tmpdir(), `dragoman-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    this.#file = file;
    await unlink(path);
    let at = 0;
    for (const chunk of this.#chunks) {
      await writeAll(file, chunk, at);
      at += chunk.byteLength;
    }
    this.#chunks = [];
  }

  /** Reads from an offset into a buffer. @returns the filled part of the buffer */
  async read(from: number, into: Uint8Array): Promise<Uint8Array> {
    const size = Math.max(0, Math.min(into.byteLength, this.size - from));
    const buffer = into.subarray(0, size);
    const file = this.#file;
    if (!file) {
      buffer.set(Buffer.concat(this.#chunks).subarray(from, from + size));
      return buffer;
    }
    return await wrapStorageErrors(async () => {
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(buffer, at, size - at, from + at);
        if (bytesRead === 0) throw new Error('the spool file is shorter than expected');
        at += bytesRead;
      }
      return buffer;
    });
  }

  /** Streams the whole content; may be called repeatedly. */
  async *stream(): AsyncGenerator<Uint8Array> {
    if (!this.#file) {
      yield* this.#chunks;
      return;
    }
    const buffer = Buffer.allocUnsafeSlow(256 * 1024);
    for (let at = 0; at < this.size; at += buffer.length) yield await this.read(at, buffer);
  }

  async close(): Promise<void> {
    this.#chunks = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }
}

/** Repeats partial writes. */
async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, at, chunk.byteLength - at, position + at);
    at += bytesWritten;
  }
}
