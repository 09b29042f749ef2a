/**
 * Frames of gRPC: a byte that tells whether the message is compressed, its length in four bytes, and the message.
 *
 * The server handles frames as text in which each character is a byte, like the text of other transports.
 */
export const prefixSize = 5;

/** Writes the prefix of a frame into its first bytes. @param size - bytes of the frame with its prefix */
export function writePrefix(frame: Uint8Array, size: number = frame.length): void {
  const length = size - prefixSize;
  frame[0] = 0;
  frame[1] = length >>> 24;
  frame[2] = length >>> 16;
  frame[3] = length >>> 8;
  frame[4] = length;
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
