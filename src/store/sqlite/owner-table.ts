import { encodeColumn } from '../durable/column-encoding.ts';
import type { Database, SqlStatement } from './database.ts';

/** Maximum number of cached owners. The cache is cleared when it is full. */
const maxCachedOwners = 10_000;

/** Maps owner names to integer keys, because the owner is part of every index. */
export class OwnerTable {
  #cache = new Map<string, number>();
  readonly #select: SqlStatement;
  readonly #insert: SqlStatement;

  constructor(database: Database) {
    this.#select = database.prepare('select key from owners where name = ?');
    this.#insert = database.prepare('insert into owners (name) values (?) on conflict (name) do nothing');
  }

  /** Returns the key of an owner, if it ever had a task. */
  find(name: string): number | undefined {
    const cached = this.#cache.get(name);
    if (cached !== undefined) return cached;
    const found = this.#read(name);
    if (found === undefined) return undefined;
    if (this.#cache.size >= maxCachedOwners) this.#cache.clear();
    this.#cache.set(name, found);
    return found;
  }

  /**
   * Returns the key of an owner and inserts the owner if it has none. The key is not cached: after a failed commit another
   * owner may get it.
   */
  insert(name: string): number {
    this.#insert.run([encodeColumn(name)]);
    return this.#read(name) ?? 0;
  }

  #read(name: string): number | undefined {
    const key = this.#select.get([encodeColumn(name)])?.['key'];
    return key === undefined ? undefined : Number(key);
  }
}
