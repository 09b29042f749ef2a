import { HeaderDecoder, type HeaderListLimits } from './hpack/header-decoder.ts';
import { http2Codes, Http2Error } from './http2-error.ts';
import { type HeadKind, type MessageHead, readHead } from './message-head.ts';

/** Frames that may continue a block. */
const maxContinuations = 8;

/** Blocks that are kept decoded, and their maximum length in bytes. */
const maxKept = 64;
const maxKeptLength = 1_024;

/** Joins the frames of header blocks and decodes them. Clients repeat the same block, which is decoded once. */
export class HeaderBlocks {
  readonly #decoder: HeaderDecoder;
  /** Heads by kind and bytes of their block, as long as the table does not change. */
  readonly #kept = new Map<string, MessageHead>();
  #changes = 0;
  /** The block that is not complete. */
  #parts: Buffer[] = [];
  #streamId = 0;
  /** True if the block that was last started ends its stream. */
  isEndOfStream = false;

  constructor(limits: HeaderListLimits) {
    this.#decoder = new HeaderDecoder(limits);
  }

  /** True while a block is not complete. */
  get isOpen(): boolean {
    return this.#streamId !== 0;
  }

  start(streamId: number, part: Buffer, isEnd: boolean): void {
    this.#streamId = streamId;
    this.#parts = [part];
    this.isEndOfStream = isEnd;
  }

  /** True if a frame of this stream continues the block. */
  continues(streamId: number): boolean {
    return this.isOpen && this.#streamId === streamId;
  }

  /** Adds a part. @returns the block if it is complete. @throws {@link Http2Error} for too many parts */
  append(part: Buffer, isLast: boolean): Buffer | undefined {
    if (this.#parts.length > maxContinuations)
      throw new Http2Error(http2Codes.enhanceYourCalm, 'a header block has too many frames');
    this.#parts.push(part);
    if (!isLast) return undefined;
    const block = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#streamId = 0;
    return block;
  }

  /**
   * Decodes a block.
   *
   * @returns the code of the error with which its stream must be reset, if the head is malformed or too large.
   * @throws {@link Http2Error} if the block cannot be decoded.
   */
  decode(block: Buffer, kind: HeadKind): MessageHead | number {
    const key = block.length <= maxKeptLength ? kind + block.toString('latin1') : undefined;
    const known = key === undefined ? undefined : this.#kept.get(key);
    if (known) return known;
    const decoder = this.#decoder;
    const { changes } = decoder;
    const list = decoder.decode(block);
    if (decoder.changes !== this.#changes || this.#kept.size >= maxKept) {
      this.#changes = decoder.changes;
      this.#kept.clear();
    }
    if (!list) return http2Codes.enhanceYourCalm;
    const head = readHead(list, kind);
    if (!head) return http2Codes.protocolError;
    // A block that changes the table means something else the next time.
    if (key !== undefined && decoder.changes === changes) this.#kept.set(key, head);
    return head;
  }
}
