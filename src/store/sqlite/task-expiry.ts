import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTerminal, type TaskState } from '../../protocol/task.ts';
import { decodeColumn } from '../durable/column-encoding.ts';
import { type Database, inTransaction, type SqlRow, type SqlStatement } from './database.ts';
import { retryWhileLocked } from './sharing/retry-while-locked.ts';
import { textColumns, tryReadTexts } from './text-columns.ts';

/** Tasks per transaction and event-loop turn, so that other work is not blocked. */
const batchSize = 200;

/** Additional milliseconds for which a task is kept while a webhook has not received all of its events. */
const maxUndeliveredAge = 7 * 24 * 3_600_000;

/** A task of a batch. The texts of a damaged row are empty. */
interface ExpirableTask {
  key: number;
  id: string;
  state: string;
}

function toExpirable(row: SqlRow): ExpirableTask {
  const [id, state] = tryReadTexts(row);
  return { key: Number(row['key']), id: id ?? '', state: state ?? '' };
}

/** Deletes expired tasks. */
export class TaskExpiry {
  readonly #database: Database;
  readonly #busyTimeout: number;
  readonly #owners: SqlStatement;
  readonly #selectEnd: SqlStatement;
  readonly #selectBatch: SqlStatement;
  readonly #deleteTask: SqlStatement;
  readonly #dependents: readonly SqlStatement[];
  readonly #count: SqlStatement;

  /** @param busyTimeout - milliseconds for which a batch waits for a write lock of another process. */
  constructor(database: Database, busyTimeout: number) {
    this.#database = database;
    this.#busyTimeout = busyTimeout;
    this.#owners = database.prepare(`select key, ${textColumns('name')} from owners`);
    this.#selectEnd = database.prepare(
      'select touched from tasks where owner = ? and changed_at >= ? order by touched limit 1',
    );
    this.#selectBatch = database.prepare(
      `select key, touched, ${textColumns('id', 'state')} from tasks t
       where owner = ?1 and touched > ?2 and touched < ?3 and (changed_at < ?4 or not exists (
         select 1 from push_configs where task = t.key and finished = 0))
       order by touched limit ${batchSize}`,
    );
    this.#deleteTask = database.prepare('delete from tasks where key = ?');
    this.#dependents = ['task_events', 'push_configs', 'attempts'].map((table) =>
      database.prepare(`delete from ${table} where task = ?`),
    );
    this.#count = database.prepare('update counts set n = n - 1 where owner = ? and state = ?');
  }

  /**
   * Deletes tasks in a terminal state whose last status change is older than `before` (milliseconds since 1970).
   *
   * @param onDeleted - called for each deleted task.
   * @param mayContinue - called before each batchSize; false stops the expiry.
   */
  async run(
    before: number,
    onDeleted: (owner: string, id: string) => void,
    mayContinue: () => boolean,
  ): Promise<number> {
    let deleted = 0;
    for (const ownerRow of this.#owners.all([])) {
      const owner = Number(ownerRow['key']);
      const [name] = tryReadTexts(ownerRow);
      const end = this.#selectEnd.get([owner, before])?.['touched'];
      // `touched` and `changed_at` grow together, so all expired tasks come before the first that is not.
      for (let after: number | undefined = -1; after !== undefined; ) {
        const rows: readonly SqlRow[] = this.#selectBatch.all([
          owner,
          after,
          end ?? Number.MAX_SAFE_INTEGER,
          before - maxUndeliveredAge,
        ]);
        const finished = rows.map(toExpirable).filter(({ state }) => isTerminal(state as TaskState));
        if (finished.length > 0)
          await retryWhileLocked(() => this.#remove(owner, finished), this.#busyTimeout);
        for (const { id } of finished) onDeleted(decodeColumn(name), decodeColumn(id));
        deleted += finished.length;
        after = rows.length < batchSize ? undefined : Number(rows.at(-1)?.['touched']);
        if (finished.length === 0) continue;
        await nextTurn();
        if (!mayContinue()) return deleted;
      }
    }
    return deleted;
  }

  #remove(owner: number, rows: readonly ExpirableTask[]): void {
    inTransaction(this.#database, () => {
      for (const { key, state } of rows) {
        // Another process may have deleted it meanwhile.
        if (this.#deleteTask.run([key]) !== 1) continue;
        for (const removal of this.#dependents) removal.run([key]);
        this.#count.run([owner, state]);
      }
    });
  }
}
