import { mapResolved } from '../../../primitives/maybe-promise.ts';
import { encodeColumn } from '../../../store/durable/column-encoding.ts';
import type { Database, SqlStatement } from '../../../store/sqlite/database.ts';
import { maxQuotaCounters, type QuotaPeriodCounter, type QuotaStore } from './quota-store.ts';

/** Table of quotas, beside those of the owners of tasks. */
export const sqliteQuotaSchema = `
  create table if not exists gateway_quotas (
    key text primary key,
    period_start integer not null,
    used integer not null
  ) without rowid;
`;

/** New counters between two evictions. */
const evictionInterval = 251;

/** Counts requests in a SQLite file. All gateways that use the file count together. */
export class SqliteQuotas implements QuotaStore {
  readonly #write: <T>(write: () => T) => T | Promise<T>;
  readonly #take: SqlStatement;
  readonly #giveBack: SqlStatement;
  readonly #evict: SqlStatement;
  #inserts = 0;

  /** @param write - runs a function in a transaction, and repeats it while another process writes. */
  constructor(database: Database, write: <T>(write: () => T) => T | Promise<T>) {
    this.#write = write;
    this.#take = database.prepare(
      `insert into gateway_quotas as known (key, period_start, used) values (?, ?, 1)
       on conflict (key) do update set
         used = case when known.period_start < excluded.period_start then 1 else known.used + 1 end,
         period_start = max(known.period_start, excluded.period_start)
       where known.period_start < excluded.period_start or known.used < ?
       returning used`,
    );
    this.#giveBack = database.prepare(
      'update gateway_quotas set used = used - 1 where key = ? and period_start = ? and used > 0',
    );
    this.#evict = database.prepare(
      `delete from gateway_quotas where key in (
         select key from gateway_quotas order by period_start
         limit max(0, (select count(*) from gateway_quotas) - ?))`,
    );
  }

  take({ key, start }: QuotaPeriodCounter, limit: number): number | undefined | Promise<number | undefined> {
    return this.#write(() => {
      const used = this.#take.get([encodeColumn(key), start, limit])?.['used'];
      if (used === undefined) return undefined;
      if (Number(used) === 1 && ++this.#inserts % evictionInterval === 0) this.#evict.run([maxQuotaCounters]);
      return Number(used);
    });
  }

  giveBack({ key, start }: QuotaPeriodCounter): void | Promise<void> {
    return mapResolved(
      this.#write(() => this.#giveBack.run([encodeColumn(key), start])),
      () => {},
    );
  }
}
