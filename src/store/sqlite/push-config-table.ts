import type { PushConfig } from '../../protocol/push.ts';
import type { PushDelivery, PushDeliveryState } from '../task-store.ts';
import { decodeColumn, encodeColumn } from './column-encoding.ts';
import type { Database, SqlStatement } from './database.ts';

const ofTask = 'task = (select key from tasks where owner = ? and id = ?)';

/** Push configurations of tasks in order of creation, with their delivery state. */
export class PushConfigTable {
  readonly #put: SqlStatement;
  readonly #selectByTask: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #updateDelivery: SqlStatement;
  readonly #selectUnfinished: SqlStatement;

  constructor(database: Database) {
    this.#put = database.prepare(
      `insert into push_configs (task, id, body, delivered)
       select key, ?, ?, ? from tasks where owner = ? and id = ?
       on conflict (task, id) do update set body = excluded.body, last_error = null returning delivered`,
    );
    this.#selectByTask = database.prepare(`select body from push_configs where ${ofTask} order by position`);
    this.#delete = database.prepare(`delete from push_configs where ${ofTask} and id = ?`);
    // A task in a terminal state gets no more events, so a complete delivery stays finished.
    this.#updateDelivery = database.prepare(
      `update push_configs set delivered = ?1, last_error = ?2, finished =
         (select sequence <= ?1 and state in ('completed', 'failed', 'canceled', 'rejected') from tasks where key = task)
       where task = (select key from tasks where owner = ?3 and id = ?4) and id = ?5`,
    );
    this.#selectUnfinished = database.prepare(
      `select o.name, p.body, p.delivered, p.last_error, t.sequence
       from push_configs p indexed by push_configs_unfinished
       cross join tasks t on t.key = p.task cross join owners o on o.key = t.owner
       where p.finished = 0 order by p.position`,
    );
  }

  /** @returns undefined if the task does not exist. */
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

  list(owner: number, taskId: string): PushConfig[] {
    return this.#selectByTask
      .all([owner, encodeColumn(taskId)])
      .map(({ body }) => JSON.parse(String(body)) as PushConfig);
  }

  delete(owner: number, taskId: string, id: string): void {
    this.#delete.run([owner, encodeColumn(taskId), encodeColumn(id)]);
  }

  /** @returns false if the configuration does not exist. */
  putDelivery(
    owner: number,
    taskId: string,
    id: string,
    { delivered, ...failure }: PushDeliveryState,
  ): boolean {
    const lastError = failure.attempts === 0 ? null : JSON.stringify(failure);
    return (
      this.#updateDelivery.run([delivered, lastError, owner, encodeColumn(taskId), encodeColumn(id)]) > 0
    );
  }

  listDeliveries(): PushDelivery[] {
    return this.#selectUnfinished
      .all([])
      .map(({ name, body, delivered, last_error: lastError, sequence }) => ({
        owner: decodeColumn(name),
        config: JSON.parse(String(body)) as PushConfig,
        state: {
          delivered: Number(delivered),
          ...(lastError === null ? { attempts: 0 } : (JSON.parse(String(lastError)) as { attempts: number })),
        },
        sequence: Number(sequence),
      }));
  }
}
