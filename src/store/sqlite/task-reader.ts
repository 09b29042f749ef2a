import { type TaskChange, TaskReducer } from '../../protocol/reduce.ts';
import type { ListTasksRequest } from '../../protocol/requests.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { decodeColumn, encodeColumn } from './column-encoding.ts';
import type { Database, SqlRow, SqlStatement, SqlValue } from './database.ts';
import type { StoredTaskState } from './sqlite-task-log.ts';

/** How many characters of stored changes a follower is given at once. */
const replaySize = 256 * 1_024;

/** A task read from disk, and where it stands there. */
export interface LoadedTask {
  task: Task;
  stored: StoredTaskState;
  snapshotSize: number;
  changesSize: number;
}

const rowColumns =
  't.key, t.id, t.message_id, t.state, t.touched, t.changed_at, t.sequence, t.snapshot_at, s.body';
const withText = 'cross join texts s on s.task = t.key and s.sequence = 0';

function storedOf(row: SqlRow): StoredTaskState {
  return {
    row: Number(row['key']),
    state: row['state'] as TaskState,
    touched: Number(row['touched']),
    changedAt: Number(row['changed_at']),
    sequence: Number(row['sequence']),
    snapshotAt: Number(row['snapshot_at']),
    messageId: row['message_id'] === null ? null : decodeColumn(row['message_id']),
  };
}

/** Reads what was committed. */
export class TaskReader {
  readonly #database: Database;
  readonly #exists: SqlStatement;
  readonly #task: SqlStatement;
  readonly #changes: SqlStatement;
  readonly #place: SqlStatement;
  readonly #message: SqlStatement;
  readonly #floor: SqlStatement;
  /** One statement for each way to ask; there are few. */
  #lists = new Map<string, SqlStatement>();

  constructor(database: Database) {
    this.#database = database;
    this.#exists = database.prepare('select 1 as found from tasks where owner = ? and id = ?');
    this.#task = database.prepare(
      `select ${rowColumns} from tasks t ${withText} where t.owner = ? and t.id = ?`,
    );
    this.#changes = database.prepare(
      'select body from texts where task = ? and sequence > ? and sequence <= ? order by sequence limit ?',
    );
    this.#place = database.prepare(
      'select key, message_id, state, touched, changed_at, sequence, snapshot_at from tasks where key = ?',
    );
    this.#message = database.prepare(
      'select id from tasks where owner = ? and message_id = ? order by key limit 1',
    );
    this.#floor = database.prepare(
      `select touched from tasks where owner = ? and changed_at < ? order by touched desc limit 1`,
    );
  }

  exists(owner: number, id: string): boolean {
    return this.#exists.get([owner, encodeColumn(id)]) !== undefined;
  }

  find(owner: number, messageId: string): string | undefined {
    const row = this.#message.get([owner, encodeColumn(messageId)]);
    return row && decodeColumn(row['id']);
  }

  load(owner: number, id: string): LoadedTask | undefined {
    const row = this.#task.get([owner, encodeColumn(id)]);
    return row && this.#loaded(row);
  }

  /** Where a task stands now, or undefined if it is gone. */
  place(row: number): StoredTaskState | undefined {
    const found = this.#place.get([row]);
    return found && storedOf(found);
  }

  /** The changes after one sequence number, up to another: all of them, or as many as are handy. */
  changes(row: number, after: number, upTo: number, isAll: boolean): TaskChange[] {
    const changes: TaskChange[] = [];
    let size = 0;
    let last = after;
    for (;;) {
      const rows = this.#changes.all([row, last, upTo, 64]);
      for (const { body } of rows) {
        const text = String(body);
        size += text.length;
        for (const change of JSON.parse(text) as TaskChange[]) {
          last = change.sequence ?? last;
          if (last > after) changes.push(change);
        }
        if (!isAll && size > replaySize) return changes;
      }
      if (rows.length < 64) return changes;
    }
  }

  #loaded(row: SqlRow): LoadedTask {
    const stored = storedOf(row);
    const body = String(row['body']);
    const task = JSON.parse(body) as Task;
    const loaded = { task, stored, snapshotSize: body.length, changesSize: 0 };
    if (stored.snapshotAt === stored.sequence) return loaded;
    const fold = new TaskReducer(task);
    for (const change of this.changes(stored.row, stored.snapshotAt, stored.sequence, true))
      fold.apply(change);
    // Counted as much as the snapshot, so that the next commit writes a new one: reading it cost as much already.
    return { ...loaded, task: fold.task(), changesSize: Math.max(body.length, 4_096) };
  }

  /** The place before which every status of an owner is older than a moment. */
  floor(owner: number, since: number): number {
    if (since === Number.NEGATIVE_INFINITY) return -1;
    return Number(this.#floor.get([owner, since])?.['touched'] ?? -1);
  }

  /** Tasks of an owner between two places, the newest first. */
  page(
    owner: number,
    request: ListTasksRequest,
    floor: number,
    before: number,
    most: number,
    known: (id: string, sequence: number) => Task | undefined,
  ): { task: Task; touched: number }[] {
    const { from, where, values } = conditions(owner, request);
    const list = this.#listing(
      `select ${rowColumns} from ${from} ${withText} where ${where} and t.touched > ? and t.touched < ?
       order by t.touched desc limit ?`,
    );
    const top = before === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : before;
    return list.all([...values, floor, top, most]).map((row) => ({
      task: known(decodeColumn(row['id']), Number(row['sequence'])) ?? this.#loaded(row).task,
      touched: Number(row['touched']),
    }));
  }

  /** How many tasks a list would show on all its pages. */
  count(owner: number, request: ListTasksRequest, floor: number): number {
    const { contextId, status } = request;
    if (contextId === undefined && floor === -1) {
      const counted = status === undefined ? '' : ' and state = ?';
      const sum = this.#listing(`select coalesce(sum(n), 0) as n from counts where owner = ?${counted}`);
      return Number(sum.get(status === undefined ? [owner] : [owner, status])?.['n']);
    }
    const { from, where, values } = conditions(owner, request);
    const count = this.#listing(`select count(*) as n from ${from} where ${where} and t.touched > ?`);
    return Number(count.get([...values, floor])?.['n']);
  }

  #listing(sql: string): SqlStatement {
    let statement = this.#lists.get(sql);
    if (!statement) this.#lists.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** How to ask for tasks. The index is named, because which one serves best is known here and only guessed by SQLite. */
function conditions(
  owner: number,
  { contextId, status }: ListTasksRequest,
): { from: string; where: string; values: SqlValue[] } {
  const values: SqlValue[] = [owner];
  let index = 'tasks_by_touched';
  let where = 't.owner = ?';
  if (status !== undefined) {
    index = 'tasks_by_state';
    where += ' and t.state = ?';
    values.push(status);
  }
  if (contextId !== undefined) {
    index = 'tasks_by_context';
    where += ' and t.context_id = ?';
    values.push(encodeColumn(contextId));
  }
  return { from: `tasks t indexed by ${index}`, where, values };
}
