import { decodeColumn } from '../../durable/column-encoding.ts';
import type { TaskCommand } from '../../task-store.ts';
import type { Database, SqlStatement } from '../database.ts';

/** Milliseconds after which a command that no process has read is deleted: its sender waits for a shorter time. */
const maxAge = 60_000;

/** A command with the task that it is for. */
interface StoredCommand {
  readonly owner: string;
  readonly id: string;
  readonly command: TaskCommand;
}

/** Commands to the processes that hold tasks of a shared file. */
export class CommandTable {
  readonly #now: () => number;
  readonly #insert: SqlStatement;
  readonly #any: SqlStatement;
  readonly #select: SqlStatement;
  readonly #delete: SqlStatement;
  readonly #deleteOld: SqlStatement;

  constructor(database: Database, now: () => number) {
    this.#now = now;
    const ofProcess = 'from commands c join holders h on h.task = c.task where h.token = ?';
    this.#insert = database.prepare('insert into commands (task, body, since) values (?, ?, ?)');
    this.#any = database.prepare(`select 1 ${ofProcess} limit 1`);
    this.#select = database.prepare(
      `select c.key, c.body, o.name, t.id from commands c join holders h on h.task = c.task
       join tasks t on t.key = c.task join owners o on o.key = t.owner where h.token = ? order by c.key`,
    );
    this.#delete = database.prepare(`delete from commands where key in (select c.key ${ofProcess})`);
    this.#deleteOld = database.prepare('delete from commands where since < ?');
  }

  /** Adds a command. Part of a transaction. */
  add(row: number, command: TaskCommand): void {
    this.#insert.run([row, JSON.stringify(command), this.#now()]);
  }

  /** Returns true if there is no command for a process. @param token - of its lease */
  isEmpty(token: string): boolean {
    return !this.#any.get([token]);
  }

  /** Removes and returns the commands for a process. Part of a transaction. @param token - of its lease */
  take(token: string): StoredCommand[] {
    const rows = this.#select.all([token]);
    this.#delete.run([token]);
    this.#deleteOld.run([this.#now() - maxAge]);
    return rows.map(({ name, id, body }) => ({
      owner: decodeColumn(name),
      id: decodeColumn(id),
      command: JSON.parse(String(body)) as TaskCommand,
    }));
  }
}
