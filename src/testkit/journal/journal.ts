import { A2AError } from '../../protocol/errors.ts';
import type { TestClock } from '../clock/test-clock.ts';
import {
  type CapturedRequest,
  matchesJournalFilter,
  type JournalEntry,
  type JournalFilter,
} from './journal-entry.ts';
import { ExchangeCapture, type CaptureLimits } from './exchange-capture.ts';

/** How much a journal keeps. What is oldest goes first. */
export interface JournalOptions {
  /** @defaultValue 10,000 */
  readonly maxEntries?: number;
  /** How many bytes of bodies and headers in all. @defaultValue 64 MiB */
  readonly maxBytes?: number;
  /** How many bytes of one body. @defaultValue 4 MiB */
  readonly maxBodyBytes?: number;
}

/** How long to wait, and for how many. */
export interface JournalWaitOptions {
  /** How many entries must be there. @defaultValue 1 */
  readonly count?: number;
  /** After how many milliseconds of the test agent's clock to give up. @defaultValue 5,000 */
  readonly timeout?: number;
  /** Counts an entry only once its answer has ended. @defaultValue false */
  readonly answered?: boolean;
}

interface Waiting {
  check(): void;
  giveUp(why: A2AError): void;
}

/** What a test agent was asked and what it answered, newest last. */
export class Journal {
  readonly #clock: TestClock;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #limits: CaptureLimits;
  /** Those before `#first` are gone. */
  #recordings: (ExchangeCapture | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #lastId = 0;
  readonly #open = new Map<number, ExchangeCapture>();
  readonly #waiting = new Set<Waiting>();

  constructor(clock: TestClock, options: JournalOptions = {}) {
    this.#clock = clock;
    this.#maxEntries = options.maxEntries ?? 10_000;
    this.#maxBytes = options.maxBytes ?? 64 * 1_024 * 1_024;
    this.#limits = { maxBodyBytes: options.maxBodyBytes ?? 4 * 1_024 * 1_024 };
  }

  /** Begins an entry. */
  begin(...[request, response]: Parameters<ExchangeCapture['attach']>): ExchangeCapture {
    const recording = new ExchangeCapture(++this.#lastId, this.#clock, this.#limits, {
      grew: (bytes) => this.#grew(recording, bytes),
      changed: () => this.#tell(),
      closed: () => this.#open.delete(recording.id),
    });
    this.#open.set(recording.id, recording);
    this.#recordings.push(recording);
    recording.attach(request, response);
    this.#makeRoom();
    this.#tell();
    return recording;
  }

  /** The entry of a request that is still being answered. */
  opened(id: number): ExchangeCapture | undefined {
    return this.#open.get(id);
  }

  /** The entries that are there, oldest first. */
  entries(filter: JournalFilter = {}): JournalEntry[] {
    const wanted: JournalEntry[] = [];
    for (const recording of this.#present()) {
      const entry = recording.entry();
      if (matchesJournalFilter(entry, filter)) wanted.push(entry);
    }
    return wanted;
  }

  /** The requests that are there, oldest first. */
  requests(filter: JournalFilter = {}): CapturedRequest[] {
    return this.entries(filter).map(({ request }) => request);
  }

  /** One entry. */
  entry(id: number): JournalEntry | undefined {
    for (const recording of this.#present()) if (recording.id === id) return recording.entry();
    return undefined;
  }

  /** The newest entry that is wanted. */
  last(filter: JournalFilter = {}): JournalEntry | undefined {
    for (let at = this.#recordings.length - 1; at >= this.#first; at--) {
      const entry = this.#recordings[at]?.entry();
      if (entry && matchesJournalFilter(entry, filter)) return entry;
    }
    return undefined;
  }

  /**
   * Waits until as many entries are there as are wanted.
   *
   * @throws A2AError `TIMEOUT`, which says what came instead, or `CANCELED` when the test agent is stopped.
   */
  waitFor(filter: JournalFilter = {}, options: JournalWaitOptions = {}): Promise<JournalEntry[]> {
    const { count = 1, timeout = 5_000, answered = false } = options;
    return new Promise((resolve, reject) => {
      const found = (): JournalEntry[] =>
        this.entries(filter).filter(({ response: answer }) => !answered || answer !== undefined);
      const settled = (): void => {
        stop();
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        check: () => {
          const entries = found();
          if (entries.length < count) return;
          settled();
          resolve(entries);
        },
        giveUp: (why) => {
          settled();
          reject(why);
        },
      };
      const stop = this.#clock.after(timeout, () => {
        const seen = this.entries().slice(-10).map(told).join('\n') || '(nothing)';
        const text = `${found().length} of ${count} requests came within ${timeout} ms. The last ones:\n${seen}`;
        waiting.giveUp(new A2AError('TIMEOUT', text));
      });
      this.#waiting.add(waiting);
      waiting.check();
    });
  }

  /** Forgets everything, though not what is being answered just now. */
  clear(): void {
    for (const recording of this.#present()) recording.forget();
    this.#recordings = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  /** Nothing more will come: whoever waits hears of it. What was captured stays. */
  close(): void {
    for (const waiting of this.#waiting)
      waiting.giveUp(
        new A2AError('CANCELED', 'The test agent was stopped while somebody waited for a request'),
      );
  }

  *#present(): Generator<ExchangeCapture> {
    for (let at = this.#first; at < this.#recordings.length; at++) {
      const recording = this.#recordings[at];
      if (recording) yield recording;
    }
  }

  #grew(recording: ExchangeCapture, bytes: number): void {
    if (recording.isForgotten) return;
    this.#bytes += bytes;
    this.#makeRoom();
  }

  /** The newest entry stays, however large it is. */
  #makeRoom(): void {
    while (
      this.#recordings.length - this.#first > 1 &&
      (this.#recordings.length - this.#first > this.#maxEntries || this.#bytes > this.#maxBytes)
    ) {
      const oldest = this.#recordings[this.#first];
      this.#recordings[this.#first++] = undefined;
      if (!oldest) continue;
      this.#bytes -= oldest.size;
      oldest.forget();
    }
    if (this.#first > 1_000 && this.#first * 2 > this.#recordings.length) {
      this.#recordings = this.#recordings.slice(this.#first);
      this.#first = 0;
    }
  }

  #tell(): void {
    for (const waiting of this.#waiting) waiting.check();
  }
}

function told({ request, call, response: answer }: JournalEntry): string {
  return `  ${request.method} ${request.path} ${call?.operation ?? '-'} → ${answer?.status ?? '…'}`;
}
