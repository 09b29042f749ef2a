import type { Database, SqlStatement } from './database.ts';

/** Notices that other processes wrote to the file. */
export class ExternalWriteMonitor {
  /** Changes whenever another process wrote. */
  version: number;
  readonly #query: SqlStatement;
  readonly #timer: NodeJS.Timeout;
  #looked: NodeJS.Immediate | undefined = undefined;

  /** @param changed - is called when looking around finds something new. */
  constructor(database: Database, interval: number, changed: () => void) {
    this.#query = database.prepare('pragma data_version');
    this.version = this.#read();
    this.#timer = setInterval(() => {
      const before = this.version;
      try {
        this.version = this.#read();
        if (this.version !== before) changed();
      } catch {
        // Whoever needs the file next is told what is wrong with it.
      }
    }, interval);
    this.#timer.unref();
  }

  /** Looks, at most once in a turn of the event loop. */
  look(): number {
    if (!this.#looked) {
      this.version = this.#read();
      this.#looked = setImmediate(() => (this.#looked = undefined));
      this.#looked.unref();
    }
    return this.version;
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#looked) clearImmediate(this.#looked);
  }

  #read(): number {
    return Number(this.#query.get([])?.['data_version']);
  }
}
