import { type TaskChange, TaskReducer } from '../../protocol/reduce.ts';
import type { ListTasksRequest } from '../../protocol/requests.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { decodeColumn, encodeColumn } from './column-encoding.ts';
import type { Database, SqlRow, SqlStatement, SqlValue } from './database.ts';
import type { StoredTaskState } from './sqlite-task-log.ts';
import { DamagedRowError, parseStored, readTexts, textColumns } from './text-columns.ts';

/** Characters of stored changes that one replay returns at limit. */
const replaySize = 256 * 1_024;

/** A task read from disk, with its stored state. */
export interface LoadedTask {
  task: Task;
  stored: StoredTaskState;
  snapshotSize: number;
  changesSize: number;
}

const rowColumns = `t.key, t.touched, t.changed_at, t.sequence, t.snapshot_at,
  ${textColumns('t.state', 't.message_id', 't.id', 's.body')}`;
const withSnapshot = 'left join task_events s on s.task = t.key and s.sequence = 0';

function placeOf(row: SqlRow): string {
  return `tasks ${String(row['key'])}`;
}

function toStoredState(row: SqlRow, [state, messageId]: readonly (string | null)[]): StoredTaskState {
  return {
    row: Number(row['key']),
    state: state as TaskState,
    touched: Number(row['touched']),
    changedAt: Number(row['changed_at']),
    sequence: Number(row['sequence']),
    snapshotAt: Number(row['snapshot_at']),
    messageId: messageId === null ? null : decodeColumn(messageId),
  };
}

/** Reads committed tasks. */
export class TaskReader {
  readonly #database: Database;
  readonly #onDamage: (error: DamagedRowError) => void;
  readonly #exists: SqlStatement;
  readonly #task: SqlStatement;
  readonly #changes: SqlStatement;
  readonly #selectState: SqlStatement;
  readonly #message: SqlStatement;
  readonly #floor: SqlStatement;
  /** Prepared statements of lists, by SQL text. There are few variants. */
  #lists = new Map<string, SqlStatement>();

  /** @param onDamage - called with damaged rows that are left out of a list. */
  constructor(database: Database, onDamage: (error: DamagedRowError) => void) {
    this.#database = database;
    this.#onDamage = onDamage;
    this.#exists = database.prepare('select 1 as found from tasks where owner = ? and id = ?');
    this.#task = database.prepare(
      `select ${rowColumns} from tasks t ${withSnapshot} where t.owner = ? and t.id = ?`,
    );
    this.#changes = database.prepare(
      `select ${textColumns('body')} from task_events
       where task = ? and sequence > ? and sequence <= ? order by sequence limit ?`,
    );
    this.#selectState = database.prepare(
      `select key, touched, changed_at, sequence, snapshot_at, ${textColumns('state', 'message_id')}
       from tasks where key = ?`,
    );
    this.#message = database.prepare(
      `select key, ${textColumns('id')} from tasks where owner = ? and message_id = ? order by key limit 1`,
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
    return row && decodeColumn(readTexts(row, () => placeOf(row))[0]);
  }

  load(owner: number, id: string): LoadedTask | undefined {
    const row = this.#task.get([owner, encodeColumn(id)]);
    return (
      row &&
      this.#toLoadedTask(
        row,
        readTexts(row, () => placeOf(row)),
      )
    );
  }

  /** Returns the stored state of a task, or undefined if it was deleted. */
  readState(row: number): StoredTaskState | undefined {
    const found = this.#selectState.get([row]);
    return (
      found &&
      toStoredState(
        found,
        readTexts(found, () => placeOf(found)),
      )
    );
  }

  /** Returns the changes with `after` < sequence ≤ `upTo`: all of them, or about {@link replaySize} characters. */
  changes(row: number, after: number, upTo: number, isAll: boolean): TaskChange[] {
    const changes: TaskChange[] = [];
    let size = 0;
    let last = after;
    for (;;) {
      const rows = this.#changes.all([row, last, upTo, 64]);
      const place = (): string => `events of tasks ${row} after ${last}`;
      for (const each of rows) {
        const text = readTexts(each, place)[0] ?? '';
        size += text.length;
        for (const change of parseStored(text, place) as TaskChange[]) {
          last = change.sequence ?? last;
          if (last > after) changes.push(change);
        }
        if (!isAll && size > replaySize) return changes;
      }
      if (rows.length < 64) return changes;
    }
  }

  #toLoadedTask(row: SqlRow, texts: readonly (string | null)[]): LoadedTask {
    const stored = toStoredState(row, texts);
    const [, , , body] = texts;
    if (body === null || body === undefined) return this.#reduceChanges(stored, undefined, 0);
    const task = parseStored(body, () => placeOf(row)) as Task;
    if (stored.snapshotAt !== stored.sequence) return this.#reduceChanges(stored, task, body.length);
    return { task, stored, snapshotSize: body.length, changesSize: 0 };
  }

  /** Applies the changes after the snapshot. Without a snapshot, the first change contains the task. */
  #reduceChanges(stored: StoredTaskState, snapshot: Task | undefined, snapshotSize: number): LoadedTask {
    const changes = this.changes(stored.row, stored.snapshotAt, stored.sequence, true);
    const [first] = changes;
    const start = snapshot ?? (first?.kind === 'task' ? first.task : undefined);
    if (!start) throw new DamagedRowError(`tasks ${stored.row}`);
    const reducer = new TaskReducer(start);
    for (const change of changes) if (snapshot || change !== first) reducer.apply(change);
    // Counts as a full snapshot, so that the next commit writes a new one: reading the changes was as expensive.
    return { task: reducer.task(), stored, snapshotSize, changesSize: Math.max(snapshotSize, 4_096) };
  }

  /** Returns the highest `touched` of an owner whose status is older than `since`, or -1. */
  floor(owner: number, since: number): number {
    if (since === Number.NEGATIVE_INFINITY) return -1;
    return Number(this.#floor.get([owner, since])?.['touched'] ?? -1);
  }

  /** Returns tasks with `floor` < touched < `before`, newest first. */
  page(
    owner: number,
    request: ListTasksRequest,
    floor: number,
    before: number,
    limit: number,
    cached: (id: string, sequence: number) => Task | undefined,
  ): { task: Task | undefined; touched: number }[] {
    const { from, where, values } = buildQuery(owner, request);
    const list = this.#prepareCached(
      `select ${rowColumns} from ${from} ${withSnapshot} where ${where} and t.touched > ? and t.touched < ?
       order by t.touched desc limit ?`,
    );
    const top = before === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : before;
    return list.all([...values, floor, top, limit]).map((row) => ({
      task: this.#readListed(row, cached),
      touched: Number(row['touched']),
    }));
  }

  /** Returns the task of a row; undefined if it is damaged. */
  #readListed(row: SqlRow, cached: (id: string, sequence: number) => Task | undefined): Task | undefined {
    try {
      const texts = readTexts(row, () => placeOf(row));
      return cached(decodeColumn(texts[2]), Number(row['sequence'])) ?? this.#toLoadedTask(row, texts).task;
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error;
      this.#onDamage(error);
      return undefined;
    }
  }

  /** Counts the tasks on all pages of a list. */
  count(owner: number, request: ListTasksRequest, floor: number): number {
    const { contextId, status } = request;
    if (contextId === undefined && floor === -1) {
      const stateFilter = status === undefined ? '' : ' and state = ?';
      const sum = this.#prepareCached(
        `select coalesce(sum(n), 0) as n from counts where owner = ?${stateFilter}`,
      );
      return Number(sum.get(status === undefined ? [owner] : [owner, status])?.['n']);
    }
    const { from, where, values } = buildQuery(owner, request);
    const count = this.#prepareCached(`select count(*) as n from ${from} where ${where} and t.touched > ?`);
    return Number(count.get([...values, floor])?.['n']);
  }

  #prepareCached(sql: string): SqlStatement {
    let statement = this.#lists.get(sql);
    if (!statement) this.#lists.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** Builds the query of a list. It names the index, because the query planner of SQLite would have to guess. */
function buildQuery(
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
