import type { Database, SqlStatement } from '../database.ts';

/** Detects writes to the database file by other processes. */
export class ExternalWriteMonitor {
  /** Changes after every write of another process (`pragma data_version`). */
  version: number;
  readonly #query: SqlStatement;
  readonly #timer: NodeJS.Timeout;
  #checkedThisTurn: NodeJS.Immediate | undefined = undefined;

  /** @param onWrite - called when the periodic check detects a write. */
  constructor(database: Database, interval: number, onWrite: () => void) {
    this.#query = database.prepare('pragma data_version');
    this.version = this.#read();
    this.#timer = setInterval(() => {
      const before = this.version;
      try {
        this.version = this.#read();
        if (this.version !== before) onWrite();
      } catch {
        // The next operation on the file reports the error.
      }
    }, interval);
    this.#timer.unref();
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

  stop(): void {
    clearInterval(this.#timer);
    if (this.#checkedThisTurn) clearImmediate(this.#checkedThisTurn);
  }

  #read(): number {
    return Number(this.#query.get([])?.['data_version']);
  }
}
