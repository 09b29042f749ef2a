import { MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';

/** Encodings of messages that the client reads. */
export const readableEncodings = 'identity,gzip';

/**
 * Decompresses a message.
 *
 * @param encoding - the header `grpc-encoding`.
 * @param limit - bytes of the message at most.
 * @throws `FrameTooLargeError`, or {@link MalformedMessageError} for damaged bytes and other encodings, as a rejection.
 */
export async function decompressMessage(
  message: Uint8Array,
  encoding: string | undefined,
  limit: number,
): Promise<Uint8Array> {
  if (encoding !== 'gzip')
    throw new MalformedMessageError(
      `it is compressed with ${encoding ?? 'an unknown encoding'}, not with gzip`,
    );
  const source = new Blob([message]).stream();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source.pipeThrough(new DecompressionStream('gzip'))) {
      length += chunk.length;
      if (length > limit) throw new FrameTooLargeError(`more than ${limit} bytes when decompressed`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    if (thrown instanceof FrameTooLargeError) throw thrown;
    throw new MalformedMessageError('the compressed bytes are damaged');
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
