import { padJson, corruptUtf8, truncateToHalf } from './corrupt-json.ts';
import type { Fault } from './fault.ts';
import { FrameSplitter, isEventFrame, isTerminalEvent } from './sse-frames.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { FaultContext } from './fault-context.ts';

/** A comment, which keeps a connection alive and means nothing. */
const heartbeat = ':\n\n';

/** An event stream that goes wrong on its way out. Events are counted, however many came in one piece. */
export class FaultyStream {
  readonly #line: ResponseWriter;
  readonly #faults: readonly Fault[];
  readonly #tools: FaultContext;
  readonly #frames = new FrameSplitter();
  #passed = 0;
  /** Nothing of what is still written goes out. */
  #isOver = false;
  #stopBeats: (() => void) | undefined;

  constructor(line: ResponseWriter, faults: readonly Fault[], tools: FaultContext) {
    this.#line = line;
    this.#faults = faults;
    this.#tools = tools;
  }

  /** The head is written. */
  begin(): void {
    this.#strike();
  }

  write(chunk: string): boolean {
    let goesOn = true;
    for (const frame of this.#frames.push(chunk)) if (!this.#isOver) goesOn = this.#take(frame);
    return goesOn;
  }

  end(): void {
    if (!this.#isOver) this.#line.end();
    this.#isOver = true;
  }

  /** The reader is gone. */
  close(): void {
    this.#isOver = true;
    this.#stopBeats?.();
  }

  #take(frame: string): boolean {
    if (!isEventFrame(frame)) return this.#line.write(frame);
    for (const { kind, after } of this.#faults.map(ofStream)) {
      if (kind === 'half-frame' && (after ?? 1) === this.#passed) {
        this.#line.write(truncateToHalf(Buffer.from(frame)));
        this.end();
        return true;
      }
      if (kind === 'stop' && after === undefined && isTerminalEvent(frame)) {
        this.end();
        return true;
      }
    }
    const goesOn = this.#line.write(this.#damaged(frame));
    this.#passed++;
    this.#strike();
    return goesOn;
  }

  #damaged(frame: string): string | Buffer {
    for (const fault of this.#faults) {
      if (fault.kind === 'oversize' && (fault.after ?? 0) === this.#passed)
        return `${padJson(frame.trimEnd(), fault.bytes)}\n\n`;
      if (fault.kind === 'bad-utf8' && (fault.after ?? 0) === this.#passed) return corruptUtf8(frame);
    }
    return frame;
  }

  /** Lets happen what happens between two events. */
  #strike(): void {
    for (const fault of this.#faults) {
      if (this.#isOver) return;
      const { kind, after } = ofStream(fault);
      if (kind === 'stop' && after === this.#passed) this.end();
      if ((after ?? 1) !== this.#passed) continue;
      if (kind === 'cut' || kind === 'reset') {
        this.#isOver = true;
        this.#line[kind]();
      } else if (kind === 'silence' || fault.kind === 'heartbeats') {
        this.#isOver = true;
        this.#line.flushHead();
        if (fault.kind === 'heartbeats') this.#beat(fault.every ?? 1_000);
      }
    }
  }

  #beat(every: number): void {
    this.#line.write(heartbeat);
    this.#stopBeats = this.#tools.clock.every(every, () => this.#line.write(heartbeat));
  }
}

/** A fault with the number of events before it, if it is of a kind that has one. */
function ofStream(fault: Fault): { kind: Fault['kind']; after: number | undefined } {
  return { kind: fault.kind, after: 'after' in fault ? fault.after : undefined };
}
