import type { PushConfig } from '../../protocol/push.ts';
import type { PushDelivery, PushDeliveryState } from '../task-store.ts';
import { decodeColumn, encodeColumn } from '../durable/column-encoding.ts';
import type { Database, SqlRow, SqlStatement } from './database.ts';
import { DamagedRowError, parseStored, readTexts, textColumns } from './text-columns.ts';

const ofTask = 'task = (select key from tasks where owner = ? and id = ?)';

/** Push configurations of tasks in order of creation, with their delivery state. */
export class PushConfigTable {
  readonly #onDamage: (error: DamagedRowError) => void;
  readonly #put: SqlStatement;
  readonly #selectByTask: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #updateDelivery: SqlStatement;
  readonly #selectUnfinished: SqlStatement;

  /** @param onDamage - called with damaged rows, which are left out. */
  constructor(database: Database, onDamage: (error: DamagedRowError) => void) {
    this.#onDamage = onDamage;
    this.#put = database.prepare(
      `insert into push_configs (task, id, body, delivered)
       select key, ?, ?, ? from tasks where owner = ? and id = ?
       on conflict (task, id) do update set body = excluded.body, last_error = null returning delivered`,
    );
    this.#selectByTask = database.prepare(
      `select position, ${textColumns('body')} from push_configs where ${ofTask} order by position`,
    );
    this.#delete = database.prepare(`delete from push_configs where ${ofTask} and id = ?`);
    // A task in a terminal state gets no more events, so a complete delivery stays finished.
    this.#updateDelivery = database.prepare(
      `update push_configs set delivered = ?1, last_error = ?2, finished =
         (select sequence <= ?1 and state in ('completed', 'failed', 'canceled', 'rejected') from tasks where key = task)
       where task = (select key from tasks where owner = ?3 and id = ?4) and id = ?5`,
    );
    this.#selectUnfinished = database.prepare(
      `select p.position, p.delivered, t.sequence, ${textColumns('o.name', 'p.body', 'p.last_error')}
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
    return this.#read(
      this.#selectByTask.all([owner, encodeColumn(taskId)]),
      (_row, [body], place) => parseStored(body ?? '', place) as PushConfig,
    );
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
    return this.#read(this.#selectUnfinished.all([]), (row, [name, body, lastError], place) => ({
      owner: decodeColumn(name),
      config: parseStored(body ?? '', place) as PushConfig,
      state: {
        delivered: Number(row['delivered']),
        ...(lastError === null
          ? { attempts: 0 }
          : (parseStored(lastError ?? '', place) as { attempts: number })),
      },
      sequence: Number(row['sequence']),
    }));
  }

  /** Reads rows and leaves out damaged ones. */
  #read<T>(
    rows: readonly SqlRow[],
    read: (row: SqlRow, texts: readonly (string | null)[], place: () => string) => T,
  ): T[] {
    return rows.flatMap((row) => {
      const place = (): string => `push_configs ${String(row['position'])}`;
      try {
        return [read(row, readTexts(row, place), place)];
      } catch (error) {
        if (!(error instanceof DamagedRowError)) throw error;
        this.#onDamage(error);
        return [];
      }
    });
  }
}
