import type { Clock } from '../../../primitives/clock.ts';
import type { Database, SqlStatement } from '../database.ts';

/** Detects writes to the database file by other processes. */
export class ExternalWriteMonitor {
  /** Changes after every write of another process (`pragma data_version`). */
  version: number;
  readonly #query: SqlStatement;
  readonly #stopPolling: () => void;
  /** The version at the last call of `onWrite`; `version` may be newer, because `check()` reads it as well. */
  #announced = 0;
  #checkedThisTurn: NodeJS.Immediate | undefined = undefined;

  /** @param onWrite - called when the periodic check detects a write. */
  constructor(database: Database, clock: Pick<Clock, 'every'>, interval: number, onWrite: () => void) {
    this.#query = database.prepare('pragma data_version');
    this.version = this.#read();
    this.#stopPolling = clock.every(interval, () => {
      try {
        const version = this.#read();
        if (version === this.#announced) return;
        this.version = version;
        onWrite();
        this.#announced = version;
      } catch {
        // The next operation on the file reports the error.
      }
    });
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
    this.#stopPolling();
    if (this.#checkedThisTurn) clearImmediate(this.#checkedThisTurn);
  }

  #read(): number {
    return Number(this.#query.get([])?.['data_version']);
  }
}
