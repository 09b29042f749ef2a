import { ByteReader, MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import { A2AError } from '../../protocol/errors.ts';
import { singleHeader } from '../http/http-message.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { bodiesExceeded } from '../limits/server-budgets.ts';
import type { ServerCall } from './server-call.ts';
import { decompress, messageTooLarge } from './message-encoding.ts';

/**
 * Reads the only message of a call.
 *
 * @param reservation - counts the bytes of large messages; the caller releases it.
 * @throws {@link A2AError} if there is no message, more than one, or a malformed or large one, as a rejection.
 */
export async function readMessage(call: ServerCall, reservation?: ByteReservation): Promise<Uint8Array> {
  const { maxBodyBytes } = call.limits;
  const reader = new FrameReader(maxBodyBytes, true);
  const message = await readOnlyMessage(call, reader, reservation);
  call.received();
  if (!message) throw invalid('the message is missing');
  if (!reader.isCompressed) return message;
  try {
    const encoding = singleHeader(call.request.headers, 'grpc-encoding');
    return await decompress(message, encoding, maxBodyBytes);
  } catch (thrown) {
    throw toA2AError(thrown, maxBodyBytes);
  }
}

function readOnlyMessage(
  call: ServerCall,
  reader: FrameReader,
  reservation: ByteReservation | undefined,
): Promise<Uint8Array | undefined> {
  const { stream } = call;
  let message: Uint8Array | undefined;
  let size = 0;
  let counted = 0;
  return new Promise((resolve, reject) => {
    if (stream.readableEnded || stream.endAfterHeaders) {
      resolve(undefined);
      return;
    }
    const fail = (error: A2AError): void => {
      // The rest is discarded.
      stream.off('data', onData);
      stream.resume();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (reservation && size >= minCountedBytes) {
        if (!reservation.grow(size - counted)) {
          fail(bodiesExceeded());
          return;
        }
        counted = size;
      }
      try {
        const messages = reader.push(chunk);
        if (messages.length > 1 || (message && messages.length > 0))
          fail(invalid('more than one message was sent'));
        else message ??= messages[0];
      } catch (thrown) {
        fail(toA2AError(thrown, call.limits.maxBodyBytes));
      }
    };
    stream.on('data', onData);
    let isSettled = false;
    stream.once('end', () => {
      isSettled = true;
      if (reader.isComplete) resolve(message);
      else reject(invalid('the message is incomplete'));
    });
    stream.once('close', () => {
      if (!isSettled) reject(new A2AError('CANCELED'));
    });
  });
}

/** Reads the field `tenant` of a message without decoding the rest. */
export function readTenant(type: MessageType, message: Uint8Array): string | undefined {
  const number = type.fields.find(({ name }) => name === 'tenant')?.number;
  if (number === undefined) return undefined;
  let tenant: string | undefined;
  try {
    const reader = new ByteReader(message);
    while (!reader.isAtEnd) {
      const tag = reader.varint();
      if (tag === number * 8 + 2) tenant = reader.text();
      else reader.skip(tag % 8);
    }
  } catch (thrown) {
    throw toA2AError(thrown, message.length);
  }
  return tenant === '' ? undefined : tenant;
}

/** Converts an error of a codec. */
export function toA2AError(thrown: unknown, maxBodyBytes: number): A2AError {
  if (thrown instanceof FrameTooLargeError) return messageTooLarge(maxBodyBytes);
  return thrown instanceof MalformedMessageError ? invalid(thrown.message, thrown) : A2AError.from(thrown);
}

function invalid(problem: string, cause?: Error): A2AError {
  return new A2AError('INVALID_REQUEST', `Malformed message: ${problem}`, { cause });
}
