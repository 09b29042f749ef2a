import {
  meshClaimTimeout,
  type MeshRegister,
  type MeshRegisterEntry,
} from '../../mesh/sharing/mesh-register.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { columnKey } from '../../store/postgres/column-key.ts';
import type { OpenedPostgres } from '../../store/postgres/open-postgres.ts';
import { meshEntryAge, meshEvictionInterval } from './sqlite-mesh-register.ts';

const claimEnd = `clock_timestamp() + interval '${meshClaimTimeout} milliseconds'`;

/** Remembers tasks and requests of the mesh in a PostgreSQL database. The clock of the database ends claims. */
export class PostgresMeshRegister implements MeshRegister {
  readonly #database: OpenedPostgres;
  readonly #scope: string;
  readonly #table: string;
  #writes = 0;

  /** @param scope - separates agents. */
  constructor(database: OpenedPostgres, scope: string) {
    this.#database = database;
    this.#scope = scope;
    this.#table = `${database.schema}.gateway_mesh_entries`;
  }

  async get(key: string): Promise<MeshRegisterEntry | undefined> {
    const [row] = await this.#database.connection.query(
      `select value, coalesce(claimed_until > clock_timestamp(), false) as is_claimed from ${this.#table}
      where key = $1`,
      [this.#keyOf(key)],
    );
    return row && { value: String(row['value']), isClaimed: row['is_claimed'] === true };
  }

  async set(key: string, value: string): Promise<void> {
    const { connection } = this.#database;
    await connection.query(
      `insert into ${this.#table} (key, value) values ($1, $2) on conflict (key) do update set
        value = excluded.value, claimed_until = null, stored_at = excluded.stored_at`,
      [this.#keyOf(key), value],
    );
    if (++this.#writes % meshEvictionInterval !== 0) return;
    await connection.query(
      `delete from ${this.#table} where stored_at < clock_timestamp() - interval '${meshEntryAge} milliseconds'`,
    );
  }

  async claim(key: string): Promise<MeshRegisterEntry | undefined> {
    for (;;) {
      const claimed = await this.#database.connection.query(
        `insert into ${this.#table} as e (key, value, claimed_until) values ($1, '', ${claimEnd})
        on conflict (key) do update set claimed_until = excluded.claimed_until, stored_at = excluded.stored_at
        where e.claimed_until <= clock_timestamp() returning 1`,
        [this.#keyOf(key)],
      );
      if (claimed.length > 0) return undefined;
      const entry = await this.get(key);
      // Otherwise it was deleted meanwhile.
      if (entry) return entry;
    }
  }

  async renew(keys: readonly string[]): Promise<void> {
    await this.#database.connection.query(
      `update ${this.#table} set claimed_until = ${claimEnd} where key = any($1::text[]) and claimed_until is not null`,
      [keys.map((key) => this.#keyOf(key))],
    );
  }

  async delete(key: string, value: string): Promise<void> {
    await this.#database.connection.query(`delete from ${this.#table} where key = $1 and value = $2`, [
      this.#keyOf(key),
      value,
    ]);
  }

  #keyOf(key: string): string {
    return columnKey(compositeKey(this.#scope, key));
  }
}
