import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';

/** Limits the size of a decompressed body. */
const bounds: ZlibOptions = { maxOutputLength: 16 * 1_024 * 1_024 };

const gzip = { stream: createGunzip, sync: gunzipSync };

/** Decompressors by content coding. */
const decoders = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { stream: createInflate, sync: inflateSync }],
  ['br', { stream: createBrotliDecompress, sync: brotliDecompressSync }],
]);

/** Decodes the bytes of a body incrementally. */
export interface BodyDecoder {
  push(bytes: Uint8Array): void;
  /** Calls `done` after all decoded bytes were emitted. */
  end(done: () => void): void;
}

/** Creates a decoder for recording. Bodies with unknown codings are passed through undecoded. */
export function createBodyDecoder(
  encoding: string | undefined,
  emit: (bytes: Uint8Array) => void,
): BodyDecoder {
  const stream = decoders.get(encoding?.trim().toLowerCase() ?? '')?.stream();
  if (!stream) return { push: emit, end: (done) => done() };
  let hasFailed = false;
  let emitted = 0;
  stream.on('data', (bytes: Uint8Array) => {
    emitted += bytes.length;
    // Protects against decompression bombs.
    if (emitted <= 64 * 1_024 * 1_024) emit(bytes);
    else stream.destroy();
  });
  stream.on('error', () => {
    hasFailed = true;
  });
  return {
    push(bytes) {
      if (!hasFailed && !stream.destroyed) stream.write(bytes);
    },
    end(done) {
      if (hasFailed || stream.destroyed) {
        done();
        return;
      }
      stream.once('close', done);
      stream.end();
    },
  };
}

/** Decodes a complete body; returns undefined if it cannot be decoded. */
export function decodeBody(bytes: Buffer, encoding: string | undefined): Buffer | undefined {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  try {
    return decoders.get(name)?.sync(bytes, bounds);
  } catch {
    return undefined;
  }
}
