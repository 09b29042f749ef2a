import { copyJson } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TestClock } from '../clock/test-clock.ts';
import {
  type CapturedRequest,
  matchesJournalFilter,
  type JournalEntry,
  type JournalFilter,
} from './journal-entry.ts';
import { type CapturedExchange, ExchangeCapture, type CaptureLimits } from './exchange-capture.ts';

/** Size limits of a journal. The oldest entries are evicted first. */
export interface JournalOptions {
  /** @defaultValue 10,000 */
  readonly maxEntries?: number;
  /** Total bytes of bodies and headers. @defaultValue 64 MiB */
  readonly maxBytes?: number;
  /** Bytes of one body; longer bodies are truncated. @defaultValue 4 MiB */
  readonly maxBodyBytes?: number;
}

/** Options of {@link Journal.waitFor}. */
export interface JournalWaitOptions {
  /** Number of entries to wait for. @defaultValue 1 */
  readonly count?: number;
  /** Milliseconds by the clock of the test agent. @defaultValue 5,000 */
  readonly timeout?: number;
  /** Counts only entries whose response has ended. @defaultValue false */
  readonly completed?: boolean;
}

interface Waiter {
  check(): void;
  reject(error: A2AError): void;
}

/** Records the requests and responses of a test agent, newest last. */
export class Journal {
  readonly #clock: TestClock;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #limits: CaptureLimits;
  /** Entries before `#first` have been evicted. */
  #captures: (ExchangeCapture | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #lastId = 0;
  readonly #open = new Map<number, ExchangeCapture>();
  readonly #waiters = new Set<Waiter>();

  constructor(clock: TestClock, options: JournalOptions = {}) {
    this.#clock = clock;
    this.#maxEntries = options.maxEntries ?? 10_000;
    this.#maxBytes = options.maxBytes ?? 64 * 1_024 * 1_024;
    this.#limits = { maxBodyBytes: options.maxBodyBytes ?? 4 * 1_024 * 1_024 };
  }

  /** Starts to capture an exchange. */
  startCapture(exchange: CapturedExchange): ExchangeCapture {
    const capture = new ExchangeCapture(++this.#lastId, exchange, this.#clock, {
      ...this.#limits,
      grown: (bytes) => this.#grew(capture, bytes),
      changed: () => this.#checkWaiters(),
      closed: () => this.#open.delete(capture.id),
    });
    this.#open.set(capture.id, capture);
    this.#captures.push(capture);
    capture.start();
    this.#evict();
    this.#checkWaiters();
    return capture;
  }

  /** Returns the capture of a request whose response has not ended. */
  openCapture(id: number): ExchangeCapture | undefined {
    return this.#open.get(id);
  }

  /** Returns copies of the matching entries, oldest first. */
  entries(filter: JournalFilter = {}): JournalEntry[] {
    return copyJson(this.#find(filter));
  }

  #find(filter: JournalFilter): JournalEntry[] {
    const found: JournalEntry[] = [];
    for (const capture of this.#present()) {
      const entry = capture.entry();
      if (matchesJournalFilter(entry, filter)) found.push(entry);
    }
    return found;
  }

  /** Returns the matching requests, oldest first. */
  requests(filter: JournalFilter = {}): CapturedRequest[] {
    return this.entries(filter).map(({ request }) => request);
  }

  entry(id: number): JournalEntry | undefined {
    for (const capture of this.#present()) if (capture.id === id) return copyJson(capture.entry());
    return undefined;
  }

  /** Returns the newest matching entry. */
  last(filter: JournalFilter = {}): JournalEntry | undefined {
    for (let at = this.#captures.length - 1; at >= this.#first; at--) {
      const entry = this.#captures[at]?.entry();
      if (entry && matchesJournalFilter(entry, filter)) return copyJson(entry);
    }
    return undefined;
  }

  /**
   * Waits until the given number of entries match.
   *
   * @throws A2AError `TIMEOUT` with the latest requests in its message, or `CANCELED` if the test agent stops.
   */
  waitFor(filter: JournalFilter = {}, options: JournalWaitOptions = {}): Promise<JournalEntry[]> {
    const { count = 1, timeout = 5_000, completed = false } = options;
    return new Promise((resolve, reject) => {
      const findEntries = (): JournalEntry[] =>
        this.#find(filter).filter(({ response }) => !completed || response !== undefined);
      const finish = (): void => {
        stop();
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        check: () => {
          const entries = findEntries();
          if (entries.length < count) return;
          finish();
          resolve(copyJson(entries));
        },
        reject: (error) => {
          finish();
          reject(error);
        },
      };
      const stop = this.#clock.after(timeout, () => {
        const latest = this.#find({}).slice(-10).map(formatEntry).join('\n') || '(none)';
        const text = `${findEntries().length} of ${count} requests arrived within ${timeout} ms. Latest requests:\n${latest}`;
        waiter.reject(new A2AError('TIMEOUT', text));
      });
      this.#waiters.add(waiter);
      waiter.check();
    });
  }

  /** Removes all entries. Captures of open responses continue without an entry. */
  clear(): void {
    for (const capture of this.#present()) capture.evict();
    this.#captures = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  /** Rejects all pending `waitFor()` calls. The entries remain. */
  close(): void {
    for (const waiter of this.#waiters)
      waiter.reject(new A2AError('CANCELED', 'The test agent stopped before the expected requests arrived'));
  }

  *#present(): Generator<ExchangeCapture> {
    for (let at = this.#first; at < this.#captures.length; at++) {
      const capture = this.#captures[at];
      if (capture) yield capture;
    }
  }

  #grew(capture: ExchangeCapture, bytes: number): void {
    if (capture.isEvicted) return;
    this.#bytes += bytes;
    this.#evict();
  }

  /** Never evicts the newest entry, even if it exceeds `maxBytes`. */
  #evict(): void {
    while (
      this.#captures.length - this.#first > 1 &&
      (this.#captures.length - this.#first > this.#maxEntries || this.#bytes > this.#maxBytes)
    ) {
      const oldest = this.#captures[this.#first];
      this.#captures[this.#first++] = undefined;
      if (!oldest) continue;
      this.#bytes -= oldest.size;
      oldest.evict();
    }
    if (this.#first > 1_000 && this.#first * 2 > this.#captures.length) {
      this.#captures = this.#captures.slice(this.#first);
      this.#first = 0;
    }
  }

  #checkWaiters(): void {
    for (const waiter of this.#waiters) waiter.check();
  }
}

function formatEntry({ request, call, response }: JournalEntry): string {
  return `  ${request.method} ${request.path} ${call?.operation ?? '-'} → ${response?.status ?? '…'}`;
}
