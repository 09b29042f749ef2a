import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { readChunks } from './content.ts';

/** How much base64 is decoded at once; four characters are three bytes. */
const sliceLength = 1 << 18;

/** How many bytes some base64 is. */
export function base64DecodedSize(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0;
  return Math.floor((raw.length * 3) / 4) - padding;
}

/** Decodes base64 slice by slice into the same few bytes, so that they are never all there at once. */
export async function* decodeBase64Chunks(raws: readonly string[]): AsyncGenerator<Uint8Array> {
  const longest = raws.reduce((length, raw) => Math.max(length, raw.length), 0);
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((Math.min(longest, sliceLength) * 3) / 4));
  for (const raw of raws) {
    for (let at = 0; at < raw.length; at += sliceLength) {
      // A large file must not keep everybody else waiting.
      if (at > 0) await turn();
      yield bytes.subarray(0, bytes.write(raw.slice(at, at + sliceLength), 'base64'));
    }
  }
}

/** A text, and what tells its bytes from others. */
export interface EncodedContent {
  readonly text: string;
  readonly size: number;
  readonly digest: string;
}

/** Encodes bytes as they come. */
export async function encodeBase64(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<EncodedContent> {
  const hash = createHash('sha256');
  let text = '';
  let size = 0;
  let rest = Buffer.alloc(0);
  for await (const piece of readChunks(bytes, maxBytes)) {
    hash.update(piece);
    size += piece.byteLength;
    const joined =
      rest.length > 0
        ? Buffer.concat([rest, piece])
        : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const whole = joined.length - (joined.length % 3);
    text += joined.toString('base64', 0, whole);
    rest = Buffer.from(joined.subarray(whole));
  }
  return { text: text + rest.toString('base64'), size, digest: hash.digest('hex') };
}
