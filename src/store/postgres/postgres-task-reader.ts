import { decodeColumn } from '../durable/column-encoding.ts';
import { restoreIds } from '../durable/stored-changes.ts';
import { type TaskChange, TaskReducer } from '../../protocol/reduce.ts';
import type { ListTasksRequest } from '../../protocol/requests.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { A2AError } from '../../protocol/errors.ts';
import { columnKey } from './column-key.ts';
import type { PostgresConnection, PostgresRow, PostgresValue } from './connection.ts';

/** Commits whose changes one replay returns at limit. */
const replayCommits = 256;

/** State of a stored task. */
export interface StoredTask {
  readonly row: number;
  readonly state: TaskState;
  readonly sequence: number;
  readonly snapshotAt: number;
  readonly messageId: string | null;
  readonly holder: number | undefined;
  /** The changes after the cursor of the query. */
  readonly changes: TaskChange[];
}

/** A task with its stored state. */
export interface LoadedPostgresTask extends StoredTask {
  readonly task: Task;
  readonly snapshotSize: number;
  readonly changesSize: number;
}

/** Selects the bodies of `events` after a cursor as one text, which is cheaper to parse than an array. */
const bodiesAfter = (schema: string, cursor: string): string =>
  `(select string_agg(e.body, ',' order by e.sequence) from ${schema}.events e where e.task = t.key and e.sequence > ${cursor})`;

const stateColumns = 't.key, t.state, t.sequence, t.snapshot_at, t.message_key, t.holder';

/** Reads committed tasks. */
export class PostgresTaskReader {
  readonly #connection: PostgresConnection;
  readonly #schema: string;
  readonly #load: string;
  readonly #loadColumns: string;
  readonly #refresh: string;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
    this.#loadColumns = `${stateColumns}, t.id, s.body as snapshot, ${bodiesAfter(schema, 't.snapshot_at')} as bodies`;
    this.#load = `select ${this.#loadColumns} from ${schema}.tasks t
      left join ${schema}.events s on s.task = t.key and s.sequence = 0`;
    this.#refresh = `select ${stateColumns}, ${bodiesAfter(schema, '$2')} as bodies from ${schema}.tasks t where t.key = $1`;
  }

  async load(owner: number, id: string): Promise<LoadedPostgresTask | undefined> {
    const text = `${this.#load} where t.owner = $1 and t.id_key = $2`;
    const [row] = await this.#connection.query(text, [owner, columnKey(id)]);
    return row && toLoaded(row);
  }

  /** Returns the state of a task and its changes after a sequence number; undefined if it was deleted. */
  async readChanges(
    key: number,
    after: number,
    ids: Pick<Task, 'id' | 'contextId'>,
  ): Promise<StoredTask | undefined> {
    const [row] = await this.#connection.query(this.#refresh, [key, after]);
    return row && { ...toStored(row), changes: parseBodies(row['bodies'], after, ids) };
  }

  /** Returns the sequence numbers of tasks, by key. */
  async readSequences(keys: readonly number[]): Promise<Map<number, number>> {
    const text = `select key, sequence from ${this.#schema}.tasks where key = any($1::bigint[])`;
    const rows = await this.#connection.query(text, [keys]);
    return new Map(rows.map(({ key, sequence }) => [Number(key), Number(sequence)]));
  }

  /** Returns changes with `after` < sequence ≤ `upTo`, the oldest first; not all of them if there are many. */
  async replay(
    key: number,
    after: number,
    upTo: number,
    ids: Pick<Task, 'id' | 'contextId'>,
  ): Promise<TaskChange[]> {
    const text = `select body from ${this.#schema}.events where task = $1 and sequence > $2 order by sequence limit ${replayCommits}`;
    const rows = await this.#connection.query(text, [key, after]);
    const bodies = rows.map(({ body }) => String(body)).join(',');
    return parseBodies(bodies, after, ids).filter(({ sequence = 0 }) => sequence <= upTo);
  }

  async find(owner: number, messageId: string): Promise<string | undefined> {
    const text = `select id from ${this.#schema}.tasks where owner = $1 and message_key = $2`;
    const [row] = await this.#connection.query(text, [owner, columnKey(messageId)]);
    return row && decodeColumn(row['id']);
  }

  /** Returns tasks with `touched` < `before`, newest first, and the number of tasks on all pages. */
  async page(
    owner: number,
    request: ListTasksRequest,
    since: number,
    before: number,
    limit: number,
  ): Promise<{ tasks: { task: Task; touched: number }[]; totalSize: number }> {
    const { where, values } = buildFilter(owner, request, since);
    const count = this.#connection.query(
      `select count(*) as n from ${this.#schema}.tasks t where ${where}`,
      values,
    );
    const cursor = before === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : before;
    const page = `select key, touched from ${this.#schema}.tasks t where ${where} and t.touched < $${values.length + 1}
      order by t.touched desc limit ${limit}`;
    const text = `select ${this.#loadColumns}, t.touched from (${page}) p join ${this.#schema}.tasks t on t.key = p.key
      left join ${this.#schema}.events s on s.task = t.key and s.sequence = 0 order by p.touched desc`;
    const [rows, [total]] = await Promise.all([this.#connection.query(text, [...values, cursor]), count]);
    return {
      tasks: rows.map((row) => ({ task: toLoaded(row).task, touched: Number(row['touched']) })),
      totalSize: Number(total?.['n'] ?? 0),
    };
  }
}

function toStored(row: PostgresRow): StoredTask {
  return {
    row: Number(row['key']),
    state: row['state'] as TaskState,
    sequence: Number(row['sequence']),
    snapshotAt: Number(row['snapshot_at']),
    messageId: row['message_key'] as string | null,
    holder: row['holder'] === null ? undefined : Number(row['holder']),
    changes: [],
  };
}

/** Applies the changes after the snapshot. Without a snapshot, the first change contains the task. */
function toLoaded(row: PostgresRow): LoadedPostgresTask {
  const stored = toStored(row);
  const snapshot = row['snapshot'] === null ? undefined : (JSON.parse(String(row['snapshot'])) as Task);
  const changes = parseBodies(row['bodies'], stored.snapshotAt, snapshot);
  const [first] = changes;
  const start = snapshot ?? (first?.kind === 'task' ? first.task : undefined);
  if (!start) {
    throw new A2AError('INTERNAL_ERROR', 'The stored task is damaged', {
      cause: new Error(`The events of task ${stored.row} in the task store are incomplete`),
    });
  }
  const reducer = new TaskReducer(start);
  for (const change of changes) if (snapshot || change !== first) reducer.apply(change);
  return {
    ...stored,
    task: reducer.task(),
    snapshotSize: String(row['snapshot'] ?? '').length,
    changesSize: String(row['bodies'] ?? '').length,
  };
}

function parseBodies(
  bodies: unknown,
  after: number,
  ids: Pick<Task, 'id' | 'contextId'> | undefined,
): TaskChange[] {
  if (typeof bodies !== 'string' || bodies === '') return [];
  const changes = (JSON.parse(`[${bodies}]`) as TaskChange[][]).flat();
  return restoreIds(changes, ids).filter(({ sequence = 0 }) => sequence > after);
}

function buildFilter(
  owner: number,
  { contextId, status }: ListTasksRequest,
  since: number,
): { where: string; values: PostgresValue[] } {
  const values: PostgresValue[] = [owner];
  let where = 't.owner = $1';
  const add = (condition: string, value: PostgresValue): void => {
    values.push(value);
    where += ` and ${condition} $${values.length}`;
  };
  if (contextId !== undefined) add('t.context_key =', columnKey(contextId));
  if (status !== undefined) add('t.state =', status);
  if (since !== Number.NEGATIVE_INFINITY) add('t.changed_at >=', since);
  return { where, values };
}
