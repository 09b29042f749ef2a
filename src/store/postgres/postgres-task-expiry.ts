import { decodeColumn } from '../durable/column-encoding.ts';
import type { PostgresConnection } from './connection.ts';

/** Tasks per statement. */
const batchSize = 500;

/** Additional milliseconds for which a task is kept while a webhook has not received all of its events. */
const maxUndeliveredAge = 7 * 24 * 3_600_000;

/** Deletes expired tasks. Replicas that do so at the same time skip each other's tasks. */
export class PostgresTaskExpiry {
  readonly #connection: PostgresConnection;
  readonly #delete: string;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#delete = `with expired as (
        select t.key from ${schema}.tasks t
        where t.state in ('completed', 'failed', 'canceled', 'rejected') and t.changed_at < $1 and (t.changed_at < $2
          or not exists (select 1 from ${schema}.push_configs p where p.task = t.key and not p.finished))
        order by t.changed_at limit ${batchSize} for update skip locked
      ), deleted_events as (
        delete from ${schema}.events e using expired x where e.task = x.key
      ), deleted as (
        delete from ${schema}.tasks t using expired x where t.key = x.key returning t.owner, t.id
      )
      select o.name, d.id from deleted d join ${schema}.owners o on o.key = d.owner`;
  }

  /** Deletes tasks in a terminal state whose last status change is older than `before` (milliseconds since 1970). */
  async run(before: number, onDeleted: (owner: string, id: string) => void): Promise<number> {
    for (let deleted = 0; ; ) {
      const rows = await this.#connection.query(this.#delete, [before, before - maxUndeliveredAge]);
      for (const { name, id } of rows) onDeleted(decodeColumn(name), decodeColumn(id));
      deleted += rows.length;
      if (rows.length < batchSize) return deleted;
    }
  }
}
