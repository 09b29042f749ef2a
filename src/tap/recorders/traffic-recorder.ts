import { Redactor } from '../../primitives/redaction.ts';
import { DecodeQueue } from './decode-queue.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** How passages are recorded. Everything has a default. */
export interface TrafficRecorderOptions {
  /** What must not be kept beside what looks like a credential. */
  readonly secrets?: Redactor;
  /** How many characters of one text are kept. @defaultValue 256 Ki */
  readonly keep?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A text as it may be kept. */
export interface TruncatedText {
  readonly text: string;
  readonly truncatedBy?: number;
}

/** A text of which more than this is not looked at: what it means would cost more than it is worth. */
export const maxDecodedLength = 2 * 1_024 * 1_024;

let recorders = 0;

/** Puts passages on a tape: without secrets, bounded, and after the traffic. */
export class TrafficRecorder {
  readonly tape: TrafficLog;
  readonly backlog: DecodeQueue;
  readonly secrets: Redactor;
  readonly now: () => number;
  readonly #keep: number;
  readonly #prefix: string;
  #trips = 0;

  constructor(
    tape: TrafficLog,
    { secrets = new Redactor(), keep = 256 * 1_024, now = Date.now }: TrafficRecorderOptions = {},
  ) {
    this.tape = tape;
    this.backlog = DecodeQueue.of(tape);
    this.secrets = secrets;
    this.now = now;
    this.#keep = keep;
    // Files of several runs may be read together.
    this.#prefix = `${Math.floor(now() / 1_000).toString(36)}${(recorders++).toString(36)}`;
  }

  /** Names a trip. */
  nextTrip(): string {
    return `${this.#prefix}-${++this.#trips}`;
  }

  /** As much of a clean text as is kept. */
  kept(text: string, missing = 0): TruncatedText {
    const truncatedBy = Math.max(0, text.length - this.#keep) + missing;
    return truncatedBy === 0 ? { text } : { text: text.slice(0, this.#keep), truncatedBy };
  }

  add(passage: Omit<TrafficRecord, 'sequence'>): void {
    const { decoded: meaning, truncatedBy = 0 } = passage;
    // The model of a text that is too long to be kept is too long as well.
    if (truncatedBy === 0 || meaning?.model === undefined) this.tape.add(passage);
    else this.tape.add({ ...passage, decoded: { ...meaning, model: undefined } });
  }
}
