import { encodeColumn } from './column-encoding.ts';
import type { Database, SqlStatement } from './database.ts';

/** How many owners are remembered before asking again. */
const most = 10_000;

/** Numbers for owners: they are in every index, and a number is shorter than a name. */
export class OwnerTable {
  #known = new Map<string, number>();
  readonly #select: SqlStatement;
  readonly #insert: SqlStatement;

  constructor(database: Database) {
    this.#select = database.prepare('select key from owners where name = ?');
    this.#insert = database.prepare('insert into owners (name) values (?) on conflict (name) do nothing');
  }

  /** The number of an owner, if it ever had a task. */
  find(name: string): number | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = this.#select.get([encodeColumn(name)])?.['key'];
    if (found === undefined) return undefined;
    if (this.#known.size >= most) this.#known.clear();
    this.#known.set(name, Number(found));
    return Number(found);
  }

  /** The number of an owner, which gets one if it has none. */
  insert(name: string): number {
    const found = this.find(name);
    if (found !== undefined) return found;
    this.#insert.run([encodeColumn(name)]);
    return this.find(name) ?? 0;
  }
}
