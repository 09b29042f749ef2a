import type { PushConfig } from '../../protocol/push.ts';
import type { PushDelivery, PushDeliveryState } from '../task-store.ts';
import { decodeColumn, encodeColumn } from './column-encoding.ts';
import type { Database, SqlStatement } from './database.ts';

const ofTask = 'task = (select key from tasks where owner = ? and id = ?)';

/** The push configurations of tasks, in the order in which they were put, and how far the news got. */
export class PushConfigTable {
  readonly #put: SqlStatement;
  readonly #of: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #deliver: SqlStatement;
  readonly #unfinished: SqlStatement;

  constructor(database: Database) {
    this.#put = database.prepare(
      `insert into push_configs (task, id, body, delivered)
       select key, ?, ?, ? from tasks where owner = ? and id = ?
       on conflict (task, id) do update set body = excluded.body, trouble = null returning delivered`,
    );
    this.#of = database.prepare(`select body from push_configs where ${ofTask} order by position`);
    this.#delete = database.prepare(`delete from push_configs where ${ofTask} and id = ?`);
    // A finished task changes no more, so whatever has got all of it stays finished.
    this.#deliver = database.prepare(
      `update push_configs set delivered = ?1, trouble = ?2, finished =
         (select sequence <= ?1 and state in ('completed', 'failed', 'canceled', 'rejected') from tasks where key = task)
       where task = (select key from tasks where owner = ?3 and id = ?4) and id = ?5`,
    );
    this.#unfinished = database.prepare(
      `select o.name, p.body, p.delivered, p.trouble, t.sequence
       from push_configs p indexed by push_configs_unfinished
       cross join tasks t on t.key = p.task cross join owners o on o.key = t.owner
       where p.finished = 0 order by p.position`,
    );
  }

  /** @returns undefined when there is no such task. */
  put(owner: number, config: PushConfig, delivered: number): PushDeliveryState | undefined {
    const { id, taskId } = config;
    const row = this.#put.get([
      encodeColumn(id),
      JSON.stringify(config),
      delivered,
      owner,
      encodeColumn(taskId),
    ]);
    return row && { delivered: Number(row['delivered']), attempts: 0 };
  }

  of(owner: number, taskId: string): PushConfig[] {
    return this.#of
      .all([owner, encodeColumn(taskId)])
      .map(({ body }) => JSON.parse(String(body)) as PushConfig);
  }

  delete(owner: number, taskId: string, id: string): void {
    this.#delete.run([owner, encodeColumn(taskId), encodeColumn(id)]);
  }

  /** @returns false when there is no such configuration. */
  deliver(owner: number, taskId: string, id: string, { delivered, ...trouble }: PushDeliveryState): boolean {
    const noted = trouble.attempts === 0 ? null : JSON.stringify(trouble);
    return this.#deliver.run([delivered, noted, owner, encodeColumn(taskId), encodeColumn(id)]) > 0;
  }

  unfinished(): PushDelivery[] {
    return this.#unfinished.all([]).map(({ name, body, delivered, trouble, sequence }) => ({
      owner: decodeColumn(name),
      config: JSON.parse(String(body)) as PushConfig,
      state: {
        delivered: Number(delivered),
        ...(trouble === null ? { attempts: 0 } : (JSON.parse(String(trouble)) as { attempts: number })),
      },
      sequence: Number(sequence),
    }));
  }
}
