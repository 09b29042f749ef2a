/**
 * Frames of gRPC: a byte that tells whether the message is compressed, its length in four bytes, and the message.
 *
 * The server handles frames as text in which each character is a byte, like the text of other transports.
 */
import { MalformedMessageError } from './byte-reader.ts';

export const prefixSize = 5;

/** Writes the prefix of the frame into its first bytes. */
export function writePrefix(frame: Uint8Array): void {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  view.setUint8(0, 0);
  view.setUint32(1, frame.length - prefixSize);
}

/** Returns the frame of a message as text in which each character is a byte. */
export function frameText(message: Uint8Array): string {
  const { length } = message;
  const prefix = String.fromCharCode(
    0,
    length >>> 24,
    (length >>> 16) & 255,
    (length >>> 8) & 255,
    length & 255,
  );
  return prefix + Buffer.from(message.buffer, message.byteOffset, length).toString('latin1');
}

/** Returns the message of the only frame of a request. */
export function unframe(bytes: Uint8Array): Uint8Array {
  if (bytes.length < prefixSize) throw new MalformedMessageError('the frame of the message is incomplete');
  if (bytes[0] !== 0) throw new MalformedMessageError('compressed messages are not supported');
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
  if (length !== bytes.length - prefixSize)
    throw new MalformedMessageError(
      length > bytes.length - prefixSize ? 'the message is incomplete' : 'more than one message was sent',
    );
  return bytes.subarray(prefixSize);
}
