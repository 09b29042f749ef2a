import { LruMap } from '../../primitives/lru-map.ts';
import { encodeColumn } from '../durable/column-encoding.ts';
import { columnKey } from './column-key.ts';
import type { PostgresConnection } from './connection.ts';

/** Maps owner names to integer keys, because the owner is part of every index. */
export class PostgresOwnerTable {
  readonly #connection: PostgresConnection;
  readonly #select: string;
  readonly #insert: string;
  readonly #cache = new LruMap<string, number>({ maxEntries: 10_000 });

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#select = `select key from ${schema}.owners where name_key = $1`;
    this.#insert = `insert into ${schema}.owners (name_key, name) values ($1, $2) on conflict (name_key) do nothing returning key`;
  }

  /** Returns the key of an owner, if it is in memory. */
  cached(name: string): number | undefined {
    return this.#cache.get(name);
  }

  /** Returns the key of an owner, if it ever had a task. */
  async find(name: string): Promise<number | undefined> {
    const cached = this.#cache.get(name);
    if (cached !== undefined) return cached;
    const [row] = await this.#connection.query(this.#select, [columnKey(name)]);
    if (row) this.#cache.set(name, Number(row['key']));
    return row && Number(row['key']);
  }

  /** Returns the key of an owner and inserts the owner if it has none. */
  async insert(name: string): Promise<number> {
    const found = await this.find(name);
    if (found !== undefined) return found;
    const [row] = await this.#connection.query(this.#insert, [columnKey(name), encodeColumn(name)]);
    if (row) this.#cache.set(name, Number(row['key']));
    // Another replica may have inserted it meanwhile.
    return row ? Number(row['key']) : ((await this.find(name)) ?? 0);
  }
}
