import type { MeshRegister } from '../../mesh/sharing/mesh-register.ts';
import type { TaskIdAlias } from '../../client/task-id-aliases.ts';
import { decodeColumn, encodeColumn } from '../../store/durable/column-encoding.ts';
import { mapResolved } from '../../primitives/maybe-promise.ts';
import {
  type Database,
  inTransaction,
  openDatabase,
  type SqlStatement,
} from '../../store/sqlite/database.ts';
import { limitBlockingWait, retryWhileLocked } from '../../store/sqlite/sharing/retry-while-locked.ts';
import type { QuotaStore } from '../policy/quotas/quota-store.ts';
import { SqliteQuotas, sqliteQuotaSchema } from '../policy/quotas/sqlite-quotas.ts';
import { SqliteMeshRegister, sqliteMeshSchema } from './sqlite-mesh-register.ts';
import type { OwnedTask, OwnershipRegister } from './ownership-register.ts';

/** Options of {@link sqliteOwnershipRegister}. */
export interface SqliteOwnershipRegisterOptions {
  /** Path of the file, which may be that of a task store. Several gateways may share it. */
  readonly file: string;
  /** Maximum number of tasks, and of contexts, of one owner of one agent; the oldest are evicted. @defaultValue 100,000 */
  readonly maxPerOwner?: number;
  /** Milliseconds that a write waits for another process, without blocking the event loop. @defaultValue 5,000 */
  readonly busyTimeout?: number;
}

/** Inserts between two evictions. Odd, because a new task often inserts two rows, of different kinds. */
const evictionInterval = 251;

const schema = `
  create table if not exists gateway_owners (
    position integer primary key,
    agent text not null,
    kind text not null,
    id text not null,
    owner text not null,
    context_id text not null,
    unique (agent, kind, id)
  );
  create index if not exists gateway_owners_by_owner on gateway_owners (owner, agent, kind, position);
  create table if not exists gateway_task_aliases (
    position integer primary key,
    agent text not null,
    key text not null,
    body text not null,
    unique (agent, key)
  );
`;

/** Keeps owners in a SQLite file. They survive restarts, and all gateways that use the file agree on them. */
export async function sqliteOwnershipRegister(
  options: SqliteOwnershipRegisterOptions,
): Promise<OwnershipRegister> {
  const { busyTimeout = 5_000, maxPerOwner = 100_000 } = options;
  const database = await openDatabase(options.file);
  try {
    database.exec(`pragma busy_timeout = ${busyTimeout}`);
    database.prepare('pragma journal_mode = wal').get([]);
    database.exec('pragma synchronous = normal');
    database.exec(schema);
    database.exec(sqliteMeshSchema);
    database.exec(sqliteQuotaSchema);
    limitBlockingWait(database, busyTimeout);
    return new SqliteOwnershipRegister(database, maxPerOwner, busyTimeout);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

type OwnedKind = 'task' | 'context';

class SqliteOwnershipRegister implements OwnershipRegister {
  readonly #database: Database;
  readonly #maxPerOwner: number;
  readonly #busyTimeout: number;
  readonly #find: SqlStatement;
  readonly #insert: SqlStatement;
  readonly #count: SqlStatement;
  readonly #countInContext: SqlStatement;
  readonly #evict: SqlStatement;
  readonly #getAlias: SqlStatement;
  readonly #setAlias: SqlStatement;
  readonly #evictAliases: SqlStatement;
  #inserts = 0;

  constructor(database: Database, maxPerOwner: number, busyTimeout: number) {
    this.#database = database;
    this.#busyTimeout = busyTimeout;
    this.#maxPerOwner = maxPerOwner;
    this.#find = database.prepare('select owner from gateway_owners where agent = ? and kind = ? and id = ?');
    this.#insert = database.prepare(
      `insert into gateway_owners (agent, kind, id, owner, context_id) values (?, ?, ?, ?, ?)
       on conflict (agent, kind, id) do nothing`,
    );
    const count = `select count(*) as n from gateway_owners where owner = ? and agent = ? and kind = 'task'`;
    this.#count = database.prepare(count);
    this.#countInContext = database.prepare(`${count} and context_id = ?`);
    this.#evict = database.prepare(
      `delete from gateway_owners where owner = ? and agent = ? and kind = ? and position <= (
         select position from gateway_owners where owner = ? and agent = ? and kind = ?
         order by position desc limit 1 offset ?)`,
    );
    this.#getAlias = database.prepare('select body from gateway_task_aliases where agent = ? and key = ?');
    this.#setAlias = database.prepare(
      'insert or replace into gateway_task_aliases (agent, key, body) values (?, ?, ?)',
    );
    this.#evictAliases = database.prepare(
      'delete from gateway_task_aliases where position <= (select max(position) from gateway_task_aliases) - ?',
    );
  }

  taskOwner(agent: string, taskId: string): string | undefined {
    return this.#owner(agent, 'task', taskId);
  }

  contextOwner(agent: string, contextId: string): string | undefined {
    return this.#owner(agent, 'context', contextId);
  }

  claimTask(agent: string, owner: string, { taskId, contextId }: OwnedTask): string | Promise<string> {
    return mapResolved(this.#claim(agent, owner, { kind: 'task', id: taskId, contextId }), (first) =>
      first === owner && contextId !== ''
        ? mapResolved(this.claimContext(agent, owner, contextId), () => first)
        : first,
    );
  }

  claimContext(agent: string, owner: string, contextId: string): void | Promise<void> {
    return mapResolved(this.#claim(agent, owner, { kind: 'context', id: contextId, contextId }), () => {});
  }

  countTasks(agent: string, owner: string, contextId?: string): number {
    const of = [encodeColumn(owner), encodeColumn(agent)];
    const row =
      contextId === undefined
        ? this.#count.get(of)
        : this.#countInContext.get([...of, encodeColumn(contextId)]);
    return Number(row?.['n'] ?? 0);
  }

  aliases(agent: string) {
    return {
      get: (key: string): TaskIdAlias | undefined => {
        const body = this.#getAlias.get([encodeColumn(agent), encodeColumn(key)])?.['body'];
        return typeof body === 'string' ? (JSON.parse(body) as TaskIdAlias) : undefined;
      },
      set: (key: string, alias: TaskIdAlias): void | Promise<void> =>
        this.#write(() => {
          this.#setAlias.run([encodeColumn(agent), encodeColumn(key), JSON.stringify(alias)]);
          if (this.#isEvictionDue()) this.#evictAliases.run([2 * this.#maxPerOwner]);
        }),
    };
  }

  meshRegister(agent: string): MeshRegister {
    return new SqliteMeshRegister(this.#database, agent, (write) => this.#write(write));
  }

  quotas(): QuotaStore {
    return new SqliteQuotas(this.#database, (write) => this.#write(write));
  }

  close(): void {
    this.#database.close();
  }

  #owner(agent: string, kind: OwnedKind, id: string): string | undefined {
    const owner = this.#find.get([encodeColumn(agent), kind, encodeColumn(id)])?.['owner'];
    return owner === undefined ? undefined : decodeColumn(owner);
  }

  /** Reads before it writes: most claims repeat an earlier one, and only a write waits for other processes. */
  #claim(
    agent: string,
    owner: string,
    { kind, id, contextId }: { kind: OwnedKind; id: string; contextId: string },
  ): string | Promise<string> {
    const known = this.#owner(agent, kind, id);
    if (known !== undefined) return known;
    const values = [agent, kind, id, owner, contextId].map((value) => encodeColumn(value));
    return this.#write(() => {
      if (this.#insert.run(values) === 0) return this.#owner(agent, kind, id) ?? owner;
      const of = [encodeColumn(owner), encodeColumn(agent), kind];
      if (this.#isEvictionDue()) this.#evict.run([...of, ...of, this.#maxPerOwner]);
      return owner;
    });
  }

  #write<T>(write: () => T): T | Promise<T> {
    return retryWhileLocked(() => inTransaction(this.#database, write), this.#busyTimeout);
  }

  #isEvictionDue(): boolean {
    return ++this.#inserts % evictionInterval === 0;
  }
}
