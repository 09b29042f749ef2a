import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { readChunks } from './content.ts';

/** Characters decoded at once; a multiple of 4, because four characters are three bytes. */
const sliceLength = 1 << 18;

/** Returns the number of bytes that base64 text decodes to. */
export function base64DecodedSize(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0;
  return Math.floor((raw.length * 3) / 4) - padding;
}

/** Decodes base64 in slices into one reused buffer, which bounds memory. */
export async function* decodeBase64Chunks(raws: readonly string[]): AsyncGenerator<Uint8Array> {
  const maxLength = raws.reduce((length, raw) => Math.max(length, raw.length), 0);
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((Math.min(maxLength, sliceLength) * 3) / 4));
  for (const raw of raws) {
    for (let at = 0; at < raw.length; at += sliceLength) {
      // Yields to the event loop between slices of a large file.
      if (at > 0) await yieldToEventLoop();
      yield bytes.subarray(0, bytes.write(raw.slice(at, at + sliceLength), 'base64'));
    }
  }
}

/** Base64 text with size and SHA-256 digest of its content. */
export interface EncodedContent {
  readonly text: string;
  readonly size: number;
  readonly digest: string;
}

/** Encodes a stream of bytes. @throws A2AError `PAYLOAD_TOO_LARGE` */
export async function encodeBase64(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<EncodedContent> {
  const hash = createHash('sha256');
  let text = '';
  let size = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of readChunks(bytes, maxBytes)) {
    hash.update(chunk);
    size += chunk.byteLength;
    const joined =
      rest.length > 0
        ? Buffer.concat([rest, chunk])
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const encodable = joined.length - (joined.length % 3);
    text += joined.toString('base64', 0, encodable);
    rest = Buffer.from(joined.subarray(encodable));
  }
  return { text: text + rest.toString('base64'), size, digest: hash.digest('hex') };
}
