import { type Database, inTransaction, type SqlRow, type SqlStatement } from '../database.ts';
import { encodeColumn } from '../../durable/column-encoding.ts';
import { textColumns } from '../text-columns.ts';

/** Tasks that one process takes over at a time, so that others can take some as well. */
const takeOverSize = 256;

/** Tasks without a process: their process ended and left them to another one. */
export class HandOverTable {
  readonly #database: Database;
  readonly #insert: SqlStatement;
  readonly #any: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #task: SqlStatement;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare(
      'insert or ignore into handed_over (task) select key from tasks where owner = ? and id = ?',
    );
    this.#any = database.prepare('select 1 from handed_over limit 1');
    this.#delete = database.prepare(
      `delete from handed_over where task in (select task from handed_over limit ${takeOverSize}) returning task`,
    );
    this.#task = database.prepare(
      `select t.key, coalesce(a.n, 0) as attempts, ${textColumns('o.name', 't.id')} from tasks t
       join owners o on o.key = t.owner left join attempts a on a.task = t.key where t.key = ?`,
    );
  }

  get isEmpty(): boolean {
    return !this.#any.get([]);
  }

  /** Adds a task, if it is stored. @param owner - key of the owner */
  add(owner: number, id: string): void {
    this.#insert.run([owner, encodeColumn(id)]);
  }

  /** Removes tasks, so that only the caller continues them. Writes only if there are any. @returns owner and id as texts */
  take(checkWritable: () => void): SqlRow[] {
    if (this.isEmpty) return [];
    return inTransaction(this.#database, () => {
      checkWritable();
      const rows = this.#delete.all([]).map(({ task }) => this.#task.get([Number(task)]));
      return rows.filter((row) => row !== undefined);
    });
  }
}
