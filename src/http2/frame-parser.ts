import { frameHeadSize, maxFrameSize } from './frames.ts';
import { http2Codes, Http2Error } from './http2-error.ts';

/** Receives the frames of a connection. */
export interface FrameSink {
  /** True if no more frames are wanted. */
  readonly isDestroyed: boolean;
  /** @throws {@link Http2Error} */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void;
}

/** Splits received bytes into frames. Frames within one chunk are not copied. */
export class FrameParser {
  readonly #sink: FrameSink;
  /** Bytes of a frame whose end has not arrived. */
  #partial: Buffer | undefined = undefined;
  #filled = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** @throws {@link Http2Error} if a frame is too large or the sink rejects it */
  push(chunk: Buffer): void {
    const sink = this.#sink;
    const { length } = chunk;
    let at = this.#partial ? this.#fill(this.#partial, chunk) : 0;
    while (length - at >= frameHeadSize) {
      const end = at + frameHeadSize + payloadLength(chunk, at);
      if (end > length) break;
      if (sink.isDestroyed) return;
      this.#emit(chunk, at, end);
      at = end;
    }
    if (at < length && !sink.isDestroyed) this.#keep(chunk, at);
  }

  #emit(bytes: Buffer, at: number, end: number): void {
    this.#sink.onFrame(
      bytes[at + 3] as number,
      bytes[at + 4] as number,
      bytes.readInt32BE(at + 5) & 0x7f_ff_ff_ff,
      bytes.subarray(at + frameHeadSize, end),
    );
  }

  /** Keeps the beginning of a frame, in a buffer that has room for its end. */
  #keep(chunk: Buffer, at: number): void {
    const available = chunk.length - at;
    const size = available < frameHeadSize ? frameHeadSize : frameHeadSize + payloadLength(chunk, at);
    const partial = Buffer.allocUnsafeSlow(size);
    chunk.copy(partial, 0, at);
    this.#partial = partial;
    this.#filled = available;
  }

  /** Adds bytes to the frame that is not complete. @returns the position in the chunk after them */
  #fill(partial: Buffer, chunk: Buffer): number {
    const copied = chunk.copy(partial, this.#filled);
    this.#filled += copied;
    if (this.#filled < partial.length) return copied;
    this.#partial = undefined;
    const size = frameHeadSize + payloadLength(partial, 0);
    if (size > partial.length) {
      // Only the head was complete.
      this.#keep(partial, 0);
      return copied < chunk.length && this.#partial
        ? copied + this.#fill(this.#partial, chunk.subarray(copied))
        : copied;
    }
    this.#emit(partial, 0, size);
    return copied;
  }
}

function payloadLength(bytes: Buffer, at: number): number {
  const length = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  if (length > maxFrameSize) throw new Http2Error(http2Codes.frameSizeError, 'a frame is too large');
  return length;
}
