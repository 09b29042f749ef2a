import { sseHeartbeat } from '../../primitives/formats/sse.ts';
import { padJson, corruptUtf8, truncateToHalf } from './corrupt-json.ts';
import type { Fault } from './fault.ts';
import { FrameSplitter, isEventFrame, isTerminalEvent } from './sse-frames.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { FaultContext } from './fault-context.ts';

/** SSE comment. */

/** Event stream with injected faults. It counts SSE events, independent of how writes are chunked. */
export class FaultyStream {
  readonly #writer: ResponseWriter;
  readonly #faults: readonly Fault[];
  readonly #context: FaultContext;
  readonly #frames = new FrameSplitter();
  #sentEvents = 0;
  /** Further writes are discarded. */
  #isEnded = false;
  #stopHeartbeats: (() => void) | undefined;

  constructor(writer: ResponseWriter, faults: readonly Fault[], context: FaultContext) {
    this.#writer = writer;
    this.#faults = faults;
    this.#context = context;
  }

  /** Called after the response head is written. */
  start(): void {
    this.#applyFaults();
  }

  write(chunk: string): boolean {
    let canContinue = true;
    for (const frame of this.#frames.push(chunk)) if (!this.#isEnded) canContinue = this.#sendFrame(frame);
    return canContinue;
  }

  end(): void {
    if (!this.#isEnded) this.#writer.end();
    this.#isEnded = true;
  }

  /** Called when the client disconnects. */
  close(): void {
    this.#isEnded = true;
    this.#stopHeartbeats?.();
  }

  #sendFrame(frame: string): boolean {
    if (!isEventFrame(frame)) return this.#writer.write(frame);
    for (const { kind, after } of this.#faults.map(faultPosition)) {
      if (kind === 'half-frame' && (after ?? 1) === this.#sentEvents) {
        this.#writer.write(truncateToHalf(Buffer.from(frame)));
        this.end();
        return true;
      }
      if (kind === 'early-end' && after === undefined && isTerminalEvent(frame)) {
        this.end();
        return true;
      }
    }
    const canContinue = this.#writer.write(this.#corruptFrame(frame));
    this.#sentEvents++;
    this.#applyFaults();
    return canContinue;
  }

  #corruptFrame(frame: string): string | Buffer {
    for (const fault of this.#faults) {
      if (fault.kind === 'oversize' && (fault.after ?? 0) === this.#sentEvents)
        return `${padJson(frame.trimEnd(), fault.bytes)}\n\n`;
      if (fault.kind === 'bad-utf8' && (fault.after ?? 0) === this.#sentEvents) return corruptUtf8(frame);
    }
    return frame;
  }

  /** Applies the faults that occur between two events. */
  #applyFaults(): void {
    for (const fault of this.#faults) {
      if (this.#isEnded) return;
      const { kind, after } = faultPosition(fault);
      if (kind === 'early-end' && after === this.#sentEvents) this.end();
      if ((after ?? 1) !== this.#sentEvents) continue;
      if (kind === 'disconnect' || kind === 'reset') {
        this.#isEnded = true;
        this.#writer[kind]();
      } else if (kind === 'stall' || fault.kind === 'heartbeats') {
        this.#isEnded = true;
        this.#writer.flushHead();
        if (fault.kind === 'heartbeats') this.#startHeartbeats(fault.every ?? 1_000);
      }
    }
  }

  #startHeartbeats(every: number): void {
    this.#writer.write(sseHeartbeat);
    this.#stopHeartbeats = this.#context.clock.every(every, () => this.#writer.write(sseHeartbeat));
  }
}

/** Returns the kind of a fault and its position in the stream. */
function faultPosition(fault: Fault): { kind: Fault['kind']; after: number | undefined } {
  return { kind: fault.kind, after: 'after' in fault ? fault.after : undefined };
}
