import type { Database, SqlStatement, SqlValue } from './database.ts';

/** Rows per statement. Calling the library costs more than writing a row, so larger statements are preferred. */
const sizes = [64, 16, 4, 1] as const;

/** Inserts many rows into one table with few statements. */
export class RowWriter {
  readonly #columns: number;
  readonly #statements: SqlStatement[];

  /**
   * @param head - the statement up to `values`.
   * @param tail - the statement after the rows.
   */
  constructor(database: Database, columns: number, head: string, tail = '') {
    this.#columns = columns;
    const row = `(${Array<string>(columns).fill('?').join(', ')})`;
    this.#statements = sizes.map((size) =>
      database.prepare(`${head} ${Array<string>(size).fill(row).join(', ')} ${tail}`),
    );
  }

  /** Writes rows, given as one flat list of values. @returns the number of changed rows. */
  write(values: readonly SqlValue[]): number {
    let changed = 0;
    let offset = 0;
    for (const [index, size] of sizes.entries()) {
      const width = size * this.#columns;
      while (values.length - offset >= width) {
        const isComplete = offset === 0 && values.length === width;
        changed +=
          this.#statements[index]?.run(isComplete ? values : values.slice(offset, offset + width)) ?? 0;
        offset += width;
      }
    }
    return changed;
  }
}
