import { FrameReader } from '../../dialects/protobuf/frame-reader.ts';
import type { ByteReservation } from '../../server/limits/byte-budget.ts';
import { maxDecodedLength } from './traffic-recorder.ts';

/** Collects the messages of one direction of a gRPC call, as far as they can be recorded. */
export class MessageCollector {
  readonly #reader = new FrameReader(maxDecodedLength, true);
  readonly #reservation: ByteReservation;
  /** Number of received bytes. */
  length = 0;
  /** True if a message was too large or malformed, or too many bytes were held. Later messages are not collected. */
  hasFailed = false;

  /** @param reservation - counts the bytes that are held; the caller releases it. */
  constructor(reservation: ByteReservation) {
    this.#reservation = reservation;
  }

  /** True between two messages. */
  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  /** Adds bytes, and returns the messages that are complete now. */
  push(bytes: Uint8Array): Uint8Array[] {
    this.length += bytes.length;
    if (this.hasFailed) return [];
    try {
      if (this.#reservation.grow(bytes.length)) return this.#reader.push(bytes);
    } catch {
      // The proxy forwards what it cannot read.
    }
    this.hasFailed = true;
    this.#reservation.release();
    return [];
  }
}
