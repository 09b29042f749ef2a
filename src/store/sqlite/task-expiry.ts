import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTerminal, type TaskState } from '../../protocol/task.ts';
import { decodeColumn } from './column-encoding.ts';
import type { Database, SqlRow, SqlStatement } from './database.ts';

/** How many tasks are looked at in one transaction and one turn, so that others get their turn as well. */
const batch = 200;

/** Deletes finished tasks. */
export class TaskExpiry {
  readonly #database: Database;
  readonly #owners: SqlStatement;
  readonly #end: SqlStatement;
  readonly #between: SqlStatement;
  readonly #task: SqlStatement;
  readonly #rest: readonly SqlStatement[];
  readonly #count: SqlStatement;

  constructor(database: Database) {
    this.#database = database;
    this.#owners = database.prepare('select key, name from owners');
    this.#end = database.prepare(
      'select touched from tasks where owner = ? and changed_at >= ? order by touched limit 1',
    );
    this.#between = database.prepare(
      `select key, id, state, touched from tasks
       where owner = ? and touched > ? and touched < ? order by touched limit ${batch}`,
    );
    this.#task = database.prepare('delete from tasks where key = ?');
    this.#rest = ['texts', 'push_configs'].map((table) =>
      database.prepare(`delete from ${table} where task = ?`),
    );
    this.#count = database.prepare('update counts set n = n - 1 where owner = ? and state = ?');
  }

  /**
   * Deletes the finished tasks whose last status is older than a moment.
   *
   * @param forget - is told of every one that is gone.
   * @param mayGoOn - is asked before each batch.
   */
  async run(
    before: number,
    forget: (owner: string, id: string) => void,
    mayGoOn: () => boolean,
  ): Promise<number> {
    let gone = 0;
    for (const { key, name } of this.#owners.all([])) {
      const owner = Number(key);
      const end = this.#end.get([owner, before])?.['touched'];
      // Places and moments grow together, so whatever is old enough stands before the first that is not.
      for (let after: number | undefined = -1; after !== undefined; ) {
        const rows: readonly SqlRow[] = this.#between.all([owner, after, end ?? Number.MAX_SAFE_INTEGER]);
        const finished = rows.filter(({ state }) => isTerminal(state as TaskState));
        if (finished.length > 0) this.#remove(owner, finished);
        for (const { id } of finished) forget(decodeColumn(name), decodeColumn(id));
        gone += finished.length;
        after = rows.length < batch ? undefined : Number(rows.at(-1)?.['touched']);
        if (finished.length === 0) continue;
        await nextTurn();
        if (!mayGoOn()) return gone;
      }
    }
    return gone;
  }

  #remove(owner: number, rows: readonly SqlRow[]): void {
    this.#database.exec('begin immediate');
    try {
      for (const { key, state } of rows) {
        // Another process may be doing the same.
        if (this.#task.run([Number(key)]) !== 1) continue;
        for (const removal of this.#rest) removal.run([Number(key)]);
        this.#count.run([owner, String(state)]);
      }
      this.#database.exec('commit');
    } catch (fault) {
      this.#database.exec('rollback');
      throw fault;
    }
  }
}
