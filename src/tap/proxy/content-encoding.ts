import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';

/** How large a body may become. */
const bounds: ZlibOptions = { maxOutputLength: 16 * 1_024 * 1_024 };

const gzip = { stream: createGunzip, whole: gunzipSync };

/** The ways in which a body may be compressed. */
const decoders = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { stream: createInflate, whole: inflateSync }],
  ['br', { stream: createBrotliDecompress, whole: brotliDecompressSync }],
]);

/** Takes the bytes of a body as they come, and gives what they say. */
export interface BodyDecoder {
  push(bytes: Uint8Array): void;
  /** Calls back once everything was given. */
  end(done: () => void): void;
}

/** Reads a body that may be compressed, for those who look on; what cannot be read is given as it is. */
export function createBodyDecoder(
  encoding: string | undefined,
  give: (bytes: Uint8Array) => void,
): BodyDecoder {
  const stream = decoders.get(encoding?.trim().toLowerCase() ?? '')?.stream();
  if (!stream) return { push: give, end: (done) => done() };
  let isBroken = false;
  let given = 0;
  stream.on('data', (bytes: Uint8Array) => {
    given += bytes.length;
    // A small body may hold more than there is room for.
    if (given <= 64 * 1_024 * 1_024) give(bytes);
    else stream.destroy();
  });
  stream.on('error', () => {
    isBroken = true;
  });
  return {
    push(bytes) {
      if (!isBroken && !stream.destroyed) stream.write(bytes);
    },
    end(done) {
      if (isBroken || stream.destroyed) {
        done();
        return;
      }
      stream.once('close', done);
      stream.end();
    },
  };
}

/** The whole of a body that may be compressed; undefined when it cannot be read. */
export function decodeBody(bytes: Buffer, encoding: string | undefined): Buffer | undefined {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  try {
    return decoders.get(name)?.whole(bytes, bounds);
  } catch {
    return undefined;
  }
}
