import { watch } from 'node:fs';
import type { Clock } from '../../../primitives/clock.ts';
import type { Database, SqlStatement } from '../database.ts';

/** Milliseconds from a notification of the file system until the check, which covers all writes until then. */
const minDelay = 5;

/** The delay is at least this multiple of the duration of the last check, so that checks use little processor time. */
const delayPerDuration = 20;

/** Options of {@link ExternalWriteMonitor}. */
interface ExternalWriteOptions {
  readonly clock: Pick<Clock, 'every' | 'after'>;
  /** Milliseconds between two checks. */
  readonly interval: number;
  /** File that every write changes. If the file system reports its changes, they are noticed before the next check. */
  readonly watched: string | undefined;
  /** Called when a check detects a write. */
  readonly onWrite: () => void;
}

/** Detects writes to the database file by other processes. */
export class ExternalWriteMonitor {
  /** Changes after every write of another process (`pragma data_version`). */
  version: number;
  readonly #query: SqlStatement;
  readonly #options: ExternalWriteOptions;
  readonly #stopPolling: () => void;
  readonly #stopWatching: (() => void) | undefined;
  #cancelNext: (() => void) | undefined = undefined;
  /** Duration of the last check that detected a write, in milliseconds. */
  #duration = 0;
  /** The version at the last call of `onWrite`; `version` may be newer, because `check()` reads it as well. */
  #announced = 0;
  #checkedThisTurn: NodeJS.Immediate | undefined = undefined;

  constructor(database: Database, options: ExternalWriteOptions) {
    this.#query = database.prepare('pragma data_version');
    this.version = this.#read();
    this.#options = options;
    const { clock, interval, watched } = options;
    this.#stopPolling = clock.every(interval, () => this.#poll());
    this.#stopWatching = watched === undefined ? undefined : watchFile(watched, () => this.#pollSoon());
  }

  /** Returns the current version; reads it at most once per event-loop turn. */
  check(): number {
    if (!this.#checkedThisTurn) {
      this.version = this.#read();
      this.#checkedThisTurn = setImmediate(() => (this.#checkedThisTurn = undefined));
      this.#checkedThisTurn.unref();
    }
    return this.version;
  }

  /** Announces the last write again, soon, to a reader that has seen an older version. */
  catchUp(version: number): void {
    if (version === this.version) return;
    this.#announced = 0;
    this.#pollSoon();
  }

  stop(): void {
    this.#stopPolling();
    this.#stopWatching?.();
    this.#cancelNext?.();
    if (this.#checkedThisTurn) clearImmediate(this.#checkedThisTurn);
  }

  #pollSoon(): void {
    const delay = Math.max(minDelay, delayPerDuration * this.#duration);
    this.#cancelNext ??= this.#options.clock.after(delay, () => {
      this.#cancelNext = undefined;
      this.#poll();
    });
  }

  #poll(): void {
    try {
      const version = this.#read();
      if (version === this.#announced) return;
      const since = performance.now();
      this.version = version;
      this.#options.onWrite();
      this.#announced = version;
      this.#duration = performance.now() - since;
    } catch {
      // The next operation on the file reports the error.
    }
  }

  #read(): number {
    return Number(this.#query.get([])?.['data_version']);
  }
}

/** Calls a function when a file changes, if the file system supports it. @returns a function that stops it */
function watchFile(file: string, onChange: () => void): (() => void) | undefined {
  try {
    const watcher = watch(file, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // Periodic checks replace it.
    return undefined;
  }
}
