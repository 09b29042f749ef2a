import { Redactor } from '../../primitives/redaction/redaction.ts';
import { DecodeQueue } from './decode-queue.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Options of traffic recorders. All options are optional. */
export interface TrafficRecorderOptions {
  /** Redacts further secrets. By default, only values that look like credentials are redacted. */
  readonly redactor?: Redactor;
  /** Maximum number of recorded characters per text. @defaultValue 256 Ki */
  readonly maxTextLength?: number;
  /** Returns milliseconds since 1970. @defaultValue `Date.now` */
  readonly now?: () => number;
}

/** A text and the number of characters removed from it. */
export interface TruncatedText {
  readonly text: string;
  readonly truncatedBy?: number;
}

/** Maximum number of characters of a text that is decoded. */
export const maxDecodedLength = 2 * 1_024 * 1_024;

let recorders = 0;

/** Adds records to a traffic log: redacted, truncated and after the traffic. */
export class TrafficRecorder {
  readonly trafficLog: TrafficLog;
  readonly decodeQueue: DecodeQueue;
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly #maxTextLength: number;
  readonly #prefix: string;
  #exchanges = 0;

  constructor(
    log: TrafficLog,
    { redactor = new Redactor(), maxTextLength = 256 * 1_024, now = Date.now }: TrafficRecorderOptions = {},
  ) {
    this.trafficLog = log;
    this.decodeQueue = DecodeQueue.of(log);
    this.redactor = redactor;
    this.now = now;
    this.#maxTextLength = maxTextLength;
    // Exchange ids must be unique across runs, because files of several runs may be read together.
    this.#prefix = `${Math.floor(now() / 1_000).toString(36)}${(recorders++).toString(36)}`;
  }

  nextExchangeId(): string {
    return `${this.#prefix}-${++this.#exchanges}`;
  }

  /** Truncates a redacted text. @param missing - characters that were removed before. */
  truncate(text: string, missing = 0): TruncatedText {
    const truncatedBy = Math.max(0, text.length - this.#maxTextLength) + missing;
    return truncatedBy === 0 ? { text } : { text: text.slice(0, this.#maxTextLength), truncatedBy };
  }

  add(record: Omit<TrafficRecord, 'sequence'>): void {
    const { decoded, truncatedBy = 0 } = record;
    // The model of a truncated text would be as large as the text.
    if (truncatedBy === 0 || decoded?.model === undefined) this.trafficLog.add(record);
    else this.trafficLog.add({ ...record, decoded: { ...decoded, model: undefined } });
  }
}
