import { type TaskChange, TaskReducer } from '../../protocol/reduce.ts';
import type { ListTasksRequest } from '../../protocol/requests.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import type { UnfinishedTask } from '../task-store.ts';
import { decodeColumn, encodeColumn } from '../durable/column-encoding.ts';
import type { Database, SqlRow, SqlStatement, SqlValue } from './database.ts';
import type { StoredTaskState } from '../durable/durable-task-log.ts';
import { restoreIds } from '../durable/stored-changes.ts';
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
  ${textColumns('t.state', 't.message_id', 's.body')}`;
/** The snapshot, or the last commit of a task without a snapshot, which is its only commit if the task is finished. */
const withSnapshot = `left join task_events s on s.task = t.key
  and s.sequence = case t.snapshot_at when 0 then t.sequence else 0 end`;

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
  readonly #tasks: SqlStatement;
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
    this.#tasks = database.prepare(
      `select ${rowColumns} from json_each(?) e join tasks t on t.key = e.value ${withSnapshot}`,
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

  unfinished(): UnfinishedTask[] {
    const rows = this.#database
      .prepare(
        `select t.key, ${textColumns('o.name', 't.id')} from owners o cross join tasks t
         where t.owner = o.key and t.state in ('submitted', 'working') order by t.touched`,
      )
      .all([]);
    return this.toUnfinished(rows);
  }

  /** Converts rows with the name of the owner and the id. Leaves damaged rows out. */
  toUnfinished(rows: readonly SqlRow[]): UnfinishedTask[] {
    return rows.flatMap((row) => {
      try {
        const [name, id] = readTexts(row, () => placeOf(row));
        const task = { owner: decodeColumn(name), id: decodeColumn(id) };
        return [row['attempts'] === undefined ? task : { ...task, attempts: Number(row['attempts']) }];
      } catch (error) {
        this.#onDamage(error as DamagedRowError);
        return [];
      }
    });
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

  /**
   * Returns the changes with `after` < sequence ≤ `upTo`: all of them, or about {@link replaySize} characters.
   *
   * @param task - the ids of the task; not needed if its first change is read.
   */
  changes(
    row: number,
    after: number,
    upTo: number,
    isAll: boolean,
    task?: Pick<Task, 'id' | 'contextId'>,
  ): TaskChange[] {
    const changes: TaskChange[] = [];
    let size = 0;
    let last = after;
    for (;;) {
      const rows = this.#changes.all([row, last, upTo, 64]);
      const place = (): string => `events of tasks ${row} after ${last}`;
      for (const each of rows) {
        const text = readTexts(each, place)[0] ?? '';
        size += text.length;
        for (const change of restoreIds(parseStored(text, place) as TaskChange[], task)) {
          if (change.kind === 'task') task ??= change.task;
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
    const [, , body] = texts;
    const parsed = typeof body === 'string' ? parseStored(body, () => placeOf(row)) : undefined;
    if (stored.snapshotAt === 0) return this.#reduceFromStart(stored, parsed as TaskChange[] | undefined);
    const task = parsed as Task | undefined;
    if (!task) throw new DamagedRowError(placeOf(row));
    const snapshotSize = body?.length ?? 0;
    if (stored.snapshotAt === stored.sequence) return { task, stored, snapshotSize, changesSize: 0 };
    const changes = this.changes(stored.row, stored.snapshotAt, stored.sequence, true, task);
    return toReducedTask(stored, task, changes, snapshotSize);
  }

  /** Applies the changes of a task without a snapshot to the first of them, which contains the task. */
  #reduceFromStart(stored: StoredTaskState, lastCommit: TaskChange[] | undefined): LoadedTask {
    const isOnlyCommit = lastCommit?.[0]?.kind === 'task';
    const [first, ...changes] = isOnlyCommit
      ? restoreIds(lastCommit, undefined)
      : this.changes(stored.row, 0, stored.sequence, true);
    if (first?.kind !== 'task') throw new DamagedRowError(`tasks ${stored.row}`);
    return toReducedTask(stored, first.task, changes, 0);
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
    cached: (row: number, sequence: number) => Task | undefined,
  ): { task: Task | undefined; touched: number }[] {
    const { from, where, values } = buildQuery(owner, request);
    // Reading text is expensive, so only the text of tasks outside of the cache is read.
    const list = this.#prepareCached(
      `select t.key, t.touched, t.sequence from ${from} where ${where} and t.touched > ? and t.touched < ?
       order by t.touched desc limit ?`,
    );
    const top = before === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : before;
    const tasks = new Map<number, Task>();
    const rows = list.all([...values, floor, top, limit]).map((row) => {
      const key = Number(row['key']);
      const task = cached(key, Number(row['sequence']));
      if (task) tasks.set(key, task);
      return { key, touched: Number(row['touched']) };
    });
    if (tasks.size < rows.length)
      this.#readListed(
        rows.filter(({ key }) => !tasks.has(key)),
        tasks,
      );
    return rows.map(({ key, touched }) => ({ task: tasks.get(key), touched }));
  }

  /** Reads the tasks of rows, except for damaged ones. */
  #readListed(rows: readonly { readonly key: number }[], tasks: Map<number, Task>): void {
    for (const row of this.#tasks.all([JSON.stringify(rows.map(({ key }) => key))])) {
      const task = this.#tryLoad(row);
      if (task) tasks.set(Number(row['key']), task);
    }
  }

  /** Returns the task of a row; undefined if it is damaged. */
  #tryLoad(row: SqlRow): Task | undefined {
    try {
      return this.#toLoadedTask(
        row,
        readTexts(row, () => placeOf(row)),
      ).task;
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

function toReducedTask(
  stored: StoredTaskState,
  start: Task,
  changes: readonly TaskChange[],
  snapshotSize: number,
): LoadedTask {
  const reducer = new TaskReducer(start);
  for (const change of changes) reducer.apply(change);
  // Counts as a full snapshot, so that the next commit writes a new one: reading the changes was as expensive.
  return { task: reducer.task(), stored, snapshotSize, changesSize: Math.max(snapshotSize, 4_096) };
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
