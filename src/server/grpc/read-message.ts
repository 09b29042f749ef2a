import { ByteReader, MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import { prefixSize } from '../../dialects/protobuf/length-prefix.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import { A2AError } from '../../protocol/errors.ts';
import { singleHeader } from '../http/http-message.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { bodiesExceeded } from '../limits/server-budgets.ts';
import type { CallReader, ServerCall } from './server-call.ts';
import { decompress, messageTooLarge } from './message-encoding.ts';

/**
 * Reads the only message of a call.
 *
 * @param reservation - counts the bytes of large messages; the caller releases it.
 * @throws {@link A2AError} if there is no message, more than one, or a malformed or large one, as a rejection.
 */
export async function readMessage(call: ServerCall, reservation?: ByteReservation): Promise<Uint8Array> {
  const { maxBodyBytes } = call.limits;
  const reader = new MessageReader(maxBodyBytes, reservation);
  call.read(reader);
  const message = await reader.result();
  call.received();
  if (!message) throw invalid('the message is missing');
  if (!reader.isCompressed) return message;
  try {
    const encoding = singleHeader(call.request.headers, 'grpc-encoding');
    return await decompress(message, encoding, maxBodyBytes, reservation);
  } catch (thrown) {
    throw toA2AError(thrown, maxBodyBytes);
  }
}

/** Receives the only message of a call. What follows an error is discarded. */
class MessageReader implements CallReader {
  readonly #maxBytes: number;
  readonly #reservation: ByteReservation | undefined;
  #frames: FrameReader | undefined = undefined;
  #message: Uint8Array | undefined = undefined;
  #size = 0;
  #countedSize = 0;
  #error: A2AError | undefined = undefined;
  #isOver = false;
  #wake: (() => void) | undefined = undefined;

  constructor(maxBytes: number, reservation: ByteReservation | undefined) {
    this.#maxBytes = maxBytes;
    this.#reservation = reservation;
  }

  get isCompressed(): boolean {
    return this.#frames?.isCompressed ?? false;
  }

  /** Returns the message, if there is one, at once if it has arrived. @throws {@link A2AError}, also as a rejection */
  result(): Promise<Uint8Array | undefined> | Uint8Array | undefined {
    if (!this.#isOver) return new Promise<void>((wake) => (this.#wake = wake)).then(() => this.result());
    if (this.#error) throw this.#error;
    return this.#message;
  }

  dataReceived(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#size += chunk.length;
    if (this.#reservation && this.#size >= minCountedBytes) {
      if (!this.#reservation.grow(this.#size - this.#countedSize)) {
        this.#finish(bodiesExceeded());
        return;
      }
      this.#countedSize = this.#size;
    }
    // Most messages arrive in one piece.
    if (!this.#frames && this.#size === chunk.length && isWhole(chunk, this.#maxBytes))
      this.#message = chunk.subarray(prefixSize);
    else this.#readFrames(chunk);
  }

  #readFrames(chunk: Buffer): void {
    this.#frames ??= new FrameReader(this.#maxBytes, true);
    try {
      const messages = this.#frames.push(chunk);
      if (messages.length > 1 || (this.#message && messages.length > 0))
        this.#finish(invalid('more than one message was sent'));
      else this.#message ??= messages[0];
    } catch (thrown) {
      this.#finish(toA2AError(thrown, this.#maxBytes));
    }
  }

  endReceived(): void {
    const isComplete = this.#frames?.isComplete ?? true;
    this.#finish(isComplete ? undefined : invalid('the message is incomplete'));
  }

  closed(): void {
    if (!this.#isOver) this.#finish(new A2AError('CANCELED'));
  }

  #finish(error: A2AError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#wake?.();
  }
}

/** True for exactly one message that is not compressed. */
function isWhole(chunk: Buffer, maxBytes: number): boolean {
  if (chunk.length < prefixSize || chunk[0] !== 0) return false;
  const length = chunk.readUInt32BE(1);
  return length === chunk.length - prefixSize && length <= maxBytes;
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
