import type { Database, SqlStatement, SqlValue } from './database.ts';

/** How many rows a statement takes: calling the library costs more than writing the row. */
const sizes = [64, 16, 4, 1] as const;

/** Writes many rows of one table with few statements. */
export class RowWriter {
  readonly #columns: number;
  readonly #statements: SqlStatement[];

  /**
   * @param head - the statement up to `values`.
   * @param tail - what follows the rows.
   */
  constructor(database: Database, columns: number, head: string, tail = '') {
    this.#columns = columns;
    const row = `(${Array<string>(columns).fill('?').join(', ')})`;
    this.#statements = sizes.map((size) =>
      database.prepare(`${head} ${Array<string>(size).fill(row).join(', ')} ${tail}`),
    );
  }

  /** Writes rows, given one value after the other. @returns how many rows it changed. */
  write(values: readonly SqlValue[]): number {
    let changed = 0;
    let at = 0;
    for (const [index, size] of sizes.entries()) {
      const width = size * this.#columns;
      while (values.length - at >= width) {
        const whole = at === 0 && values.length === width;
        changed += this.#statements[index]?.run(whole ? values : values.slice(at, at + width)) ?? 0;
        at += width;
      }
    }
    return changed;
  }
}
