import type { Database, SqlRow, SqlStatement } from '../database.ts';
import { textColumns } from '../text-columns.ts';
import type { TaskHolderTable } from './task-holder-table.ts';

/** Tasks that one process takes over at a time, so that others can take some as well. */
const takeOverSize = 256;

/** Unfinished tasks without a holder: their process ended and left them to another one. */
export class HandOverTable {
  readonly #holders: TaskHolderTable;
  readonly #any: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #task: SqlStatement;

  constructor(database: Database, holders: TaskHolderTable) {
    this.#holders = holders;
    this.#any = database.prepare('select 1 from handed_over limit 1');
    this.#delete = database.prepare(
      `delete from handed_over where task in (select task from handed_over limit ${takeOverSize}) returning task`,
    );
    this.#task = database.prepare(
      `select t.key, coalesce(a.n, 0) as attempts, ${textColumns('o.name', 't.id')} from tasks t
       join owners o on o.key = t.owner left join attempts a on a.task = t.key
       where t.key = ? and t.state in ('submitted', 'working')`,
    );
  }

  get isEmpty(): boolean {
    return !this.#any.get([]);
  }

  /** Makes this process the holder of tasks. Part of a transaction. @returns owner and id as texts */
  take(): SqlRow[] {
    return this.#delete.all([]).flatMap(({ task }) => {
      const row = this.#task.get([Number(task)]);
      return row && this.#holders.claim(Number(task)) ? [row] : [];
    });
  }
}
