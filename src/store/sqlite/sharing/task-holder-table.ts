import { isTerminal } from '../../../protocol/task.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';
import type { Database, SqlStatement } from '../database.ts';
import { adoptAllDeliveries, leaveDeliveriesOf } from './delivery-holder-table.ts';

const unfinished = `('submitted', 'working')`;
const terminal = `('completed', 'failed', 'canceled', 'rejected')`;

/**
 * Records which process holds each task of a shared file, by the token of its lease. A task without a row has no holder.
 * While the lease is in the file, no other process can take its tasks over.
 */
export class TaskHolderTable {
  readonly #token: () => string;
  readonly #select: SqlStatement;
  readonly #insert: SqlStatement;
  readonly #remove: SqlStatement;
  readonly #removeOrphan: SqlStatement;
  readonly #addOrphan: SqlStatement;
  readonly #findMessage: SqlStatement;

  /** @param token - returns the token of the lease of this process. */
  constructor(database: Database, token: () => string) {
    this.#token = token;
    this.#select = database.prepare('select 1 from holders where task = ? and token = ?');
    this.#insert = database.prepare(
      `insert or ignore into holders (task, token) select key, ?2 from tasks where key = ?1 and state not in ${terminal}`,
    );
    this.#remove = database.prepare('delete from holders where task = ? and token = ?');
    this.#removeOrphan = database.prepare('delete from handed_over where task = ?');
    this.#addOrphan = database.prepare(
      `insert or ignore into handed_over (task) select key from tasks where key = ? and state in ${unfinished}`,
    );
    this.#findMessage = database.prepare('select 1 from tasks where owner = ? and message_id = ? limit 1');
  }

  /** Returns true if this process holds a task. */
  isHolder(row: number): boolean {
    return this.#select.get([row, this.#token()]) !== undefined;
  }

  /** Makes this process the holder of a task without one. Part of a transaction. @returns true if it is the holder */
  claim(row: number): boolean {
    if (this.#insert.run([row, this.#token()]) > 0) this.#removeOrphan.run([row]);
    return this.isHolder(row);
  }

  /** Leaves a task that this process holds to the others. Part of a transaction. */
  leave(row: number): void {
    if (this.#remove.run([row, this.#token()]) > 0) this.#addOrphan.run([row]);
  }

  /** Records the holder of a task, within the transaction that stores its changes. */
  update({ state, stored, isReleasing }: HeldTaskLog, row: number): void {
    if (stored.state === undefined) this.#insert.run([row, this.#token()]);
    else if (isReleasing || isTerminal(state)) this.#remove.run([row, this.#token()]);
  }

  /** Returns true if a message has started a task. @param messageId - as stored in its column */
  isKnownMessage(ownerRow: number, messageId: string): boolean {
    return this.#findMessage.get([ownerRow, messageId]) !== undefined;
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
  const ofProcess = `from holders h join tasks t on t.key = h.task where h.token = ? and t.state in ${unfinished}`;
  database.prepare(`insert or ignore into handed_over (task) select h.task ${ofProcess}`).run([token]);
  if (!isShutdown)
    database
      .prepare(
        `insert into attempts (task, n) select h.task, 1 ${ofProcess} on conflict (task) do update set n = n + 1`,
      )
      .run([token]);
  database.prepare('delete from holders where token = ?').run([token]);
  leaveDeliveriesOf(database, token);
  return true;
}

/** Leaves all unfinished tasks and webhooks to this process, because no other one uses the file. Part of a transaction. */
export function adoptAllTasks(database: Database): void {
  database.exec(
    `delete from holders;
     insert or ignore into handed_over (task) select key from tasks where state in ${unfinished}`,
  );
  adoptAllDeliveries(database);
}
