import {
  meshClaimTimeout,
  type MeshRegister,
  type MeshRegisterEntry,
} from '../../mesh/sharing/mesh-register.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { encodeColumn } from '../../store/durable/column-encoding.ts';
import type { Database, SqlStatement } from '../../store/sqlite/database.ts';

/** Milliseconds for which entries are kept, as long as a mesh server remembers tasks by default. */
export const meshEntryAge = 3_600_000;

/** Writes between two evictions. */
export const meshEvictionInterval = 251;

/** Tables of {@link SqliteMeshRegister}. */
export const sqliteMeshSchema = `
  create table if not exists gateway_mesh_entries (
    key text primary key,
    value text not null,
    claimed_until integer,
    stored_at integer not null
  ) without rowid;
  create index if not exists gateway_mesh_entries_by_age on gateway_mesh_entries (stored_at);
`;

/** Remembers tasks and requests of the mesh in a SQLite file. Its processes run on one machine and have one clock. */
export class SqliteMeshRegister implements MeshRegister {
  readonly #scope: string;
  readonly #write: <T>(write: () => T) => MaybePromise<T>;
  readonly #get: SqlStatement;
  readonly #set: SqlStatement;
  readonly #claim: SqlStatement;
  readonly #renew: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #evict: SqlStatement;
  #writes = 0;

  /**
   * @param scope - separates agents.
   * @param write - runs a transaction.
   */
  constructor(database: Database, scope: string, write: <T>(write: () => T) => MaybePromise<T>) {
    this.#scope = scope;
    this.#write = write;
    const insert = 'insert into gateway_mesh_entries (key, value, claimed_until, stored_at)';
    this.#get = database.prepare(
      'select value, coalesce(claimed_until, 0) as claimed_until from gateway_mesh_entries where key = ?',
    );
    this.#set = database.prepare(
      `${insert} values (?, ?, null, ?) on conflict (key) do update set
         value = excluded.value, claimed_until = null, stored_at = excluded.stored_at`,
    );
    this.#claim = database.prepare(
      `${insert} values (?1, '', ?2, ?3) on conflict (key) do update set
         claimed_until = excluded.claimed_until, stored_at = excluded.stored_at where claimed_until <= ?3`,
    );
    this.#renew = database.prepare(
      `update gateway_mesh_entries set claimed_until = ?
       where key in (select value from json_each(?)) and claimed_until is not null`,
    );
    this.#delete = database.prepare('delete from gateway_mesh_entries where key = ? and value = ?');
    this.#evict = database.prepare('delete from gateway_mesh_entries where stored_at < ?');
  }

  get(key: string): MeshRegisterEntry | undefined {
    const row = this.#get.get([this.#keyOf(key)]);
    return row && { value: String(row['value']), isClaimed: Number(row['claimed_until']) > Date.now() };
  }

  set(key: string, value: string): MaybePromise<void> {
    return this.#write(() => {
      const now = Date.now();
      this.#set.run([this.#keyOf(key), value, now]);
      if (++this.#writes % meshEvictionInterval === 0) this.#evict.run([now - meshEntryAge]);
    });
  }

  claim(key: string): MaybePromise<MeshRegisterEntry | undefined> {
    return this.#write(() => {
      const now = Date.now();
      const isClaimed = this.#claim.run([this.#keyOf(key), now + meshClaimTimeout, now]) > 0;
      return isClaimed ? undefined : this.get(key);
    });
  }

  renew(keys: readonly string[]): MaybePromise<void> {
    const encoded = JSON.stringify(keys.map((key) => this.#keyOf(key)));
    return this.#write(() => void this.#renew.run([Date.now() + meshClaimTimeout, encoded]));
  }

  delete(key: string, value: string): MaybePromise<void> {
    return this.#write(() => void this.#delete.run([this.#keyOf(key), value]));
  }

  #keyOf(key: string): string {
    return encodeColumn(compositeKey(this.#scope, key));
  }
}
