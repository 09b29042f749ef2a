/** Types of frames (RFC 9113, section 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames. An acknowledgment has the flag of the end of a stream. */
export const frameFlags = { none: 0, endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** Size of the head of a frame, in bytes. */
export const frameHeadSize = 9;

/** Size of the payload that every peer accepts, in bytes. */
export const maxFrameSize = 16_384;

/** The first bytes of a client. */
export const clientPreface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Returns the head of a frame, as text in which each character is a byte. */
export function frameHead(length: number, type: number, flags: number, streamId: number): string {
  return String.fromCharCode(
    length >> 16,
    (length >> 8) & 255,
    length & 255,
    type,
    flags,
    streamId >>> 24,
    (streamId >> 16) & 255,
    (streamId >> 8) & 255,
    streamId & 255,
  );
}

/** Returns a number as four bytes. */
export function uint32Text(value: number): string {
  return String.fromCharCode(value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255);
}

/** Returns a frame. @param payload - text in which each character is a byte */
export function frameOf(type: number, flags: number, streamId: number, payload: string): string {
  return frameHead(payload.length, type, flags, streamId) + payload;
}

/** Returns a header block as one frame, or as several if it is long. */
export function headerFrames(streamId: number, block: string, isEnd: boolean): string {
  const endFlag = isEnd ? frameFlags.endStream : frameFlags.none;
  if (block.length <= maxFrameSize)
    return frameOf(frameTypes.headers, endFlag | frameFlags.endHeaders, streamId, block);
  let frames = frameOf(frameTypes.headers, endFlag, streamId, block.slice(0, maxFrameSize));
  for (let at = maxFrameSize; at < block.length; at += maxFrameSize) {
    const flags = at + maxFrameSize >= block.length ? frameFlags.endHeaders : frameFlags.none;
    frames += frameOf(frameTypes.continuation, flags, streamId, block.slice(at, at + maxFrameSize));
  }
  return frames;
}
