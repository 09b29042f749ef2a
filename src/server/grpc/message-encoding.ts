import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Encodings of messages that the server reads. It sends messages without encoding. */
export const acceptedEncodings = 'identity,gzip';

const inflate = promisify(gunzip);

/**
 * Decompresses the message of a frame.
 *
 * @param encoding - the header `grpc-encoding`.
 * @throws {@link A2AError} if the message is larger than allowed, or the encoding is not supported.
 */
export async function decompress(
  message: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  if (encoding !== 'gzip')
    throw new A2AError(
      'METHOD_NOT_FOUND',
      encoding === undefined || encoding === 'identity'
        ? 'The message is compressed, but grpc-encoding does not say how'
        : `The encoding of the message is not supported; use one of ${acceptedEncodings}`,
    );
  try {
    return await inflate(message, { maxOutputLength: maxBytes });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw messageTooLarge(maxBytes);
    throw new MalformedMessageError('the compressed bytes are damaged');
  }
}

/** Creates the error of a message above the limit. */
export function messageTooLarge(maxBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `A message must have at most ${maxBytes} bytes`, {
    details: { limit: 'maxBodyBytes' },
  });
}
