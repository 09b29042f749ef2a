import { openPostgres, type PostgresDatabaseOptions } from '../../store/postgres/open-postgres.ts';
import { migrateSchema } from '../../store/postgres/schema.ts';
import { type FollowUp, type FollowUpStore, isOwnedBy } from './follow-up-store.ts';

/** Options of {@link postgresFollowUpStore}. */
export interface PostgresFollowUpStoreOptions extends PostgresDatabaseOptions {
  /** Maximum number of follow-ups; the oldest are evicted. @defaultValue 100,000 */
  readonly max?: number;
  /** @defaultValue the clock of the database */
  readonly clock?: { now(): number };
}

/** Stores follow-ups in a PostgreSQL database. All bridges that use the schema can redeem them. */
export async function postgresFollowUpStore(options: PostgresFollowUpStoreOptions): Promise<FollowUpStore> {
  const { max = 100_000, clock } = options;
  const { connection, schema, schemaName, close } = await openPostgres(options);
  try {
    await migrateSchema(connection, schemaName);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const table = `${schema}.follow_ups`;
  // The database evaluates it, so that clocks of bridges may differ.
  const now = `coalesce($2::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)`;
  const time = (): number | null => clock?.now() ?? null;
  const insert = `with surplus as (delete from ${table} where key <> $1 and (expires <= ${now}
      or position <= (select max(position) from ${table}) + 1 - $5::bigint))
    insert into ${table} (key, expires, body) values ($1, ${now} + $3::bigint, $4)
    on conflict (key) do update set position = default, expires = excluded.expires, body = excluded.body`;
  return {
    async put(key, followUp, ttl) {
      await connection.query(insert, [key, time(), ttl, JSON.stringify(followUp), max]);
    },
    async take(key, client) {
      const found = `from ${table} where key = $1 and expires > ${now}`;
      const [row] = await connection.query(`select body ${found}`, [key, time()]);
      const followUp = row && (JSON.parse(String(row['body'])) as FollowUp);
      if (!followUp || !isOwnedBy(followUp, client)) return undefined;
      // If two processes read the row, only one of them deletes it.
      const deleted = await connection.query(`delete ${found} returning 1`, [key, time()]);
      return deleted.length === 1 ? followUp : undefined;
    },
    close,
  };
}
