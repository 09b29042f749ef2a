import { createGunzip } from 'node:zlib';
import { MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { bodiesExceeded } from '../limits/server-budgets.ts';

/** Encodings of messages that the server reads. It sends messages without encoding. */
export const acceptedEncodings = 'identity,gzip';

/**
 * Decompresses the message of a frame.
 *
 * @param encoding - the header `grpc-encoding`.
 * @param reservation - counts the bytes of large messages; the caller releases it.
 * @throws {@link A2AError} if the message is larger than allowed, or the encoding is not supported.
 */
export async function decompress(
  message: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
  reservation?: ByteReservation,
): Promise<Uint8Array> {
  if (encoding !== 'gzip')
    throw new A2AError(
      'METHOD_NOT_FOUND',
      encoding === undefined || encoding === 'identity'
        ? 'The message is compressed, but grpc-encoding does not say how'
        : `The encoding of the message is not supported; use one of ${acceptedEncodings}`,
    );
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const gunzip = createGunzip();
    gunzip.end(message);
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw messageTooLarge(maxBytes);
      if (size >= minCountedBytes && reservation?.growTo(message.length + size) === false)
        throw bodiesExceeded();
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw thrown instanceof A2AError ? thrown : new MalformedMessageError('the compressed bytes are damaged');
  }
  return Buffer.concat(chunks, size);
}

/** Creates the error of a message above the limit. */
export function messageTooLarge(maxBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `A message must have at most ${maxBytes} bytes`, {
    details: { limit: 'maxBodyBytes' },
  });
}
