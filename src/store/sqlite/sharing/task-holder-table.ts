import type { Database, SqlStatement } from '../database.ts';
import type { DurableTaskLog } from '../../durable/durable-task-log.ts';

/** Records which process runs each unfinished task of a shared file, by the token of its lease. */
export class TaskHolderTable {
  readonly #token: string;
  readonly #put: SqlStatement;
  readonly #remove: SqlStatement;

  constructor(database: Database, token: string) {
    this.#token = token;
    this.#put = database.prepare('insert or replace into holders (task, token) values (?, ?)');
    this.#remove = database.prepare('delete from holders where task = ?');
  }

  /** Records the holder of a task whose status this process changes, within the transaction of the change. */
  update({ state, stored }: DurableTaskLog, row: number): void {
    if (state === 'submitted' || state === 'working') this.#put.run([row, this.#token]);
    else if (stored.state !== undefined) this.#remove.run([row]);
  }
}

/**
 * Deletes the lease of a process that has ended and leaves its unfinished tasks to the others. Part of a transaction.
 *
 * @param isShutdown - false counts an attempt to run each of the tasks.
 * @returns false if another process did so before.
 */
export function endLease(database: Database, token: string, isShutdown: boolean): boolean {
  if (database.prepare('delete from lease where token = ?').run([token]) === 0) return false;
  const ofProcess = 'select task from holders where token = ?';
  database.prepare(`insert or ignore into handed_over (task) ${ofProcess}`).run([token]);
  if (!isShutdown)
    database
      .prepare(
        `insert into attempts (task, n) select task, 1 from holders where token = ?
         on conflict (task) do update set n = n + 1`,
      )
      .run([token]);
  database.prepare('delete from holders where token = ?').run([token]);
  return true;
}

/** Leaves all unfinished tasks to this process, because no other one uses the file. Part of a transaction. */
export function adoptAllTasks(database: Database): void {
  database.exec(
    `insert or ignore into handed_over (task) select key from tasks where state in ('submitted', 'working')`,
  );
}
