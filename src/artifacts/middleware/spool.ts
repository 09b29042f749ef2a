import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { A2AError } from '../../protocol/errors.ts';
import { wrapStorageErrors } from '../stores/content.ts';

/** How large a {@link Spool} may get, and where it grows. */
export interface SpoolOptions {
  /** How many bytes are kept in memory before a file takes them. @defaultValue 1 MiB */
  readonly maxMemory?: number;
  readonly maxBytes: number;
  /** @defaultValue the folder of the system for such files */
  readonly folder?: string;
}

/**
 * Bytes that arrive in pieces and are read once all are there: few in memory, many in a file that has no name any
 * more, so that nothing is left of it however the process ends.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #hash = createHash('sha256');
  #pieces: Uint8Array[] = [];
  #file: FileHandle | undefined;
  #digest: string | undefined;
  /** How many bytes there are. */
  size = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Adds a piece. Pieces are written one after the other. */
  async write(piece: Uint8Array): Promise<void> {
    const { maxBytes, maxMemory = 1 << 20 } = this.#options;
    if (this.size + piece.byteLength > maxBytes) {
      throw new A2AError('PAYLOAD_TOO_LARGE', `A file may have ${maxBytes} bytes at most`);
    }
    this.#hash.update(piece);
    await wrapStorageErrors(async () => {
      if (!this.#file && this.size + piece.byteLength > maxMemory) await this.#openFile();
      if (this.#file) await writeAll(this.#file, piece, this.size);
      else this.#pieces.push(new Uint8Array(piece));
    });
    this.size += piece.byteLength;
  }

  async #openFile(): Promise<void> {
    const path = join(this.#options.folder ?? tmpdir(), `dragoman-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    this.#file = file;
    await unlink(path);
    let at = 0;
    for (const piece of this.#pieces) {
      await writeAll(file, piece, at);
      at += piece.byteLength;
    }
    this.#pieces = [];
  }

  /** What tells the bytes from others. Nothing can be written afterwards. */
  digest(): string {
    this.#digest ??= this.#hash.digest('hex');
    return this.#digest;
  }

  /** Reads a stretch into a buffer, less at the end. @returns the part of the buffer that was filled */
  async read(from: number, into: Uint8Array): Promise<Uint8Array> {
    const size = Math.max(0, Math.min(into.byteLength, this.size - from));
    const buffer = into.subarray(0, size);
    const file = this.#file;
    if (!file) {
      buffer.set(Buffer.concat(this.#pieces).subarray(from, from + size));
      return buffer;
    }
    return await wrapStorageErrors(async () => {
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(buffer, at, size - at, from + at);
        if (bytesRead === 0) throw new Error('the spool is shorter than what was written to it');
        at += bytesRead;
      }
      return buffer;
    });
  }

  /** Everything, piece by piece; as often as one likes. */
  async *stream(): AsyncGenerator<Uint8Array> {
    if (!this.#file) {
      yield* this.#pieces;
      return;
    }
    const buffer = Buffer.allocUnsafeSlow(256 * 1024);
    for (let at = 0; at < this.size; at += buffer.length) yield await this.read(at, buffer);
  }

  /** Lets go of everything. */
  async close(): Promise<void> {
    this.#pieces = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }
}

/** A file may take less than it is given at once. */
async function writeAll(file: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < piece.byteLength; ) {
    const { bytesWritten } = await file.write(piece, at, piece.byteLength - at, position + at);
    at += bytesWritten;
  }
}
