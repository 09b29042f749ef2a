import { columnKey } from '../../../store/postgres/column-key.ts';
import type { OpenedPostgres } from '../../../store/postgres/open-postgres.ts';
import { maxQuotaCounters, type QuotaPeriodCounter, type QuotaStore } from './quota-store.ts';

/** New counters between two evictions. */
const evictionInterval = 251;

/** Counts requests in a PostgreSQL database. All gateways that use the schema count together. */
export class PostgresQuotas implements QuotaStore {
  readonly #database: OpenedPostgres;
  readonly #table: string;
  #inserts = 0;

  constructor(database: OpenedPostgres) {
    this.#database = database;
    this.#table = `${database.schema}.gateway_quotas`;
  }

  async take({ key, start }: QuotaPeriodCounter, limit: number): Promise<number | undefined> {
    const { connection } = this.#database;
    const [row] = await connection.query(
      `insert into ${this.#table} as known (key, period_start, used) values ($1, $2, 1)
      on conflict (key) do update set
        used = case when known.period_start < excluded.period_start then 1 else known.used + 1 end,
        period_start = greatest(known.period_start, excluded.period_start)
      where known.period_start < excluded.period_start or known.used < $3::bigint
      returning used`,
      [columnKey(key), start, limit],
    );
    if (!row) return undefined;
    const used = Number(row['used']);
    if (used === 1 && ++this.#inserts % evictionInterval === 0) await this.#evict();
    return used;
  }

  async giveBack({ key, start }: QuotaPeriodCounter): Promise<void> {
    await this.#database.connection.query(
      `update ${this.#table} set used = used - 1 where key = $1 and period_start = $2::bigint and used > 0`,
      [columnKey(key), start],
    );
  }

  async #evict(): Promise<void> {
    await this.#database.connection.query(
      `delete from ${this.#table} where key in (select key from ${this.#table} order by period_start
        limit greatest(0, (select count(*) from ${this.#table}) - $1::bigint))`,
      [maxQuotaCounters],
    );
  }
}
