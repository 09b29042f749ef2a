import type { PushConfig } from '../../protocol/push.ts';
import type { PushDelivery, PushDeliveryState } from '../task-store.ts';
import { decodeColumn, encodeColumn } from '../durable/column-encoding.ts';
import type { Database, SqlRow, SqlStatement } from './database.ts';
import type { DeliveryHolderTable } from './sharing/delivery-holder-table.ts';
import { DamagedRowError, parseStored, readTexts, textColumns } from './text-columns.ts';

/** The webhooks of this process in a shared file. */
interface SharedDeliveries {
  readonly holders: DeliveryHolderTable;
  /** Returns the token of its lease. */
  readonly token: () => string;
}

const ofTask = 'task = (select key from tasks where owner = ? and id = ?)';

/** Push configurations of tasks in order of creation, with their delivery state. */
export class PushConfigTable {
  readonly #onDamage: (error: DamagedRowError) => void;
  readonly #put: SqlStatement;
  readonly #selectByTask: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #updateDelivery: SqlStatement;
  readonly #selectUnfinished: SqlStatement;
  readonly #selectHeld: SqlStatement;
  readonly #selectTaken: SqlStatement;
  readonly #shared: SharedDeliveries | undefined;

  /**
   * @param onDamage - called with damaged rows, which are left out.
   * @param shared - the webhooks of this process in a shared file.
   */
  constructor(
    database: Database,
    onDamage: (error: DamagedRowError) => void,
    shared: SharedDeliveries | undefined,
  ) {
    this.#onDamage = onDamage;
    this.#shared = shared;
    this.#put = database.prepare(
      `insert into push_configs (task, id, body, delivered)
       select key, ?, ?, ? from tasks where owner = ? and id = ?
       on conflict (task, id) do update set body = excluded.body, last_error = null returning position, delivered`,
    );
    this.#selectByTask = database.prepare(
      `select position, ${textColumns('body')} from push_configs where ${ofTask} order by position`,
    );
    this.#delete = database.prepare(`delete from push_configs where ${ofTask} and id = ?`);
    // In a shared file, only one process delivers. No process delivers to a dead letter, so any may retry it.
    const isHolder = shared
      ? 'position in (select position from delivery_holders where token = ?6)'
      : `(?6 = '' and position not in (select position from delivery_holders))`;
    const isDead = `(delivered = ?1 and json_extract(last_error, '$.deadSince') is not null)`;
    // A task in a terminal state gets no more events, so a complete delivery stays finished.
    this.#updateDelivery = database.prepare(
      `update push_configs set delivered = ?1, last_error = ?2, finished =
         (select sequence <= ?1 and state in ('completed', 'failed', 'canceled', 'rejected') from tasks where key = task)
       where task = (select key from tasks where owner = ?3 and id = ?4) and id = ?5 and (${isHolder} or ${isDead})`,
    );
    const selectDelivery = `select p.position, p.delivered, t.sequence, ${textColumns('o.name', 'p.body', 'p.last_error')}`;
    const withTask = 'cross join tasks t on t.key = p.task cross join owners o on o.key = t.owner';
    this.#selectUnfinished = database.prepare(
      `${selectDelivery} from push_configs p indexed by push_configs_unfinished ${withTask}
       where p.finished = 0 order by p.position`,
    );
    this.#selectTaken = database.prepare(
      `${selectDelivery} from json_each(?) e cross join push_configs p on p.position = e.value ${withTask} order by p.position`,
    );
    this.#selectHeld = database.prepare(
      `select position, ${textColumns('body')} from push_configs where ${ofTask} and id = ?
       and position in (select position from delivery_holders where token = ?)`,
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
    if (row) this.#shared?.holders.assign(row);
    return row && { delivered: Number(row['delivered']), attempts: 0 };
  }

  list(owner: number, taskId: string): PushConfig[] {
    return this.#readConfigs(this.#selectByTask.all([owner, encodeColumn(taskId)]));
  }

  delete(owner: number, taskId: string, id: string): void {
    this.#delete.run([owner, encodeColumn(taskId), encodeColumn(id)]);
  }

  /** Returns a configuration if this process delivers to its webhook. */
  findHeld(owner: number, taskId: string, id: string): PushConfig | undefined {
    const keys = [owner, encodeColumn(taskId), encodeColumn(id), this.#shared?.token() ?? ''];
    return this.#readConfigs(this.#selectHeld.all(keys))[0];
  }

  /** Claims webhooks of processes that have released them or have ended. Part of a transaction. */
  takeOver(): PushDelivery[] {
    const positions = this.#shared?.holders.take() ?? [];
    return this.#readDeliveries(this.#selectTaken.all([JSON.stringify(positions)]));
  }

  /** @returns false if the configuration does not exist, or if another process delivers. */
  putDelivery(
    owner: number,
    taskId: string,
    id: string,
    { delivered, ...failure }: PushDeliveryState,
  ): boolean {
    const lastError = failure.attempts === 0 ? null : JSON.stringify(failure);
    const keys = [owner, encodeColumn(taskId), encodeColumn(id), this.#shared?.token() ?? ''];
    return this.#updateDelivery.run([delivered, lastError, ...keys]) > 0;
  }

  listDeliveries(): PushDelivery[] {
    return this.#readDeliveries(this.#selectUnfinished.all([]));
  }

  #readConfigs(rows: readonly SqlRow[]): PushConfig[] {
    return this.#read(rows, (_row, [body], place) => parseStored(body ?? '', place) as PushConfig);
  }

  #readDeliveries(rows: readonly SqlRow[]): PushDelivery[] {
    return this.#read(rows, (row, [name, body, lastError], place) => ({
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
