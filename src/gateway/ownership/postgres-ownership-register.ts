import type { MeshRegister } from '../../mesh/sharing/mesh-register.ts';
import type { TaskIdAlias } from '../../client/task-id-aliases.ts';
import { unrefClock } from '../../primitives/clock.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Outage } from '../../protocol/outage.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { decodeColumn, encodeColumn } from '../../store/durable/column-encoding.ts';
import { columnKey } from '../../store/postgres/column-key.ts';
import {
  type OpenedPostgres,
  openPostgres,
  type PostgresDatabaseOptions,
} from '../../store/postgres/open-postgres.ts';
import { migrateSchema } from '../../store/postgres/schema.ts';
import { PostgresQuotas } from '../policy/quotas/postgres-quotas.ts';
import type { QuotaStore } from '../policy/quotas/quota-store.ts';
import { PostgresMeshRegister } from './postgres-mesh-register.ts';
import type { OwnedTask, OwnershipRegister } from './ownership-register.ts';

/** Options of {@link postgresOwnershipRegister}. */
export interface PostgresOwnershipRegisterOptions extends PostgresDatabaseOptions {
  /** Maximum number of tasks, and of contexts, of one owner of one agent; the oldest are evicted. @defaultValue 100,000 */
  readonly maxPerOwner?: number;
}

/** Inserts between two evictions. Odd, because a new task often inserts two rows, of different kinds. */
const evictionInterval = 251;

/** Milliseconds between two checks whether the database responds. */
const checkInterval = 1_000;

/** Owners that stay in memory; an owner never changes. */
const maxCachedOwners = 20_000;

/** Keeps owners in a PostgreSQL database. They survive restarts, and all gateways that use the schema agree on them. */
export async function postgresOwnershipRegister(
  options: PostgresOwnershipRegisterOptions,
): Promise<OwnershipRegister> {
  const opened = await openPostgres(options);
  try {
    await migrateSchema(opened.connection, opened.schemaName);
    return new PostgresOwnershipRegister(opened, options.maxPerOwner ?? 100_000);
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

type OwnedKind = 'task' | 'context';

class PostgresOwnershipRegister implements OwnershipRegister {
  readonly #database: OpenedPostgres;
  readonly #maxPerOwner: number;
  readonly #cache = new LruMap<string, string>({ maxEntries: maxCachedOwners });
  readonly #stopChecks: () => void;
  #inserts = 0;
  #outage: Outage | undefined = undefined;
  #isChecking = false;

  constructor(database: OpenedPostgres, maxPerOwner: number) {
    this.#database = database;
    this.#maxPerOwner = maxPerOwner;
    this.#stopChecks = unrefClock.every(checkInterval, () => void this.#check());
  }

  outage(): Outage | undefined {
    return this.#outage;
  }

  async taskOwner(agent: string, taskId: string): Promise<string | undefined> {
    return this.#owner(compositeKey('task', agent, taskId));
  }

  async contextOwner(agent: string, contextId: string): Promise<string | undefined> {
    return this.#owner(compositeKey('context', agent, contextId));
  }

  async claimTask(agent: string, owner: string, { taskId, contextId }: OwnedTask): Promise<string> {
    const first = await this.#claim('task', agent, owner, taskId, contextId);
    if (first === owner && contextId !== '') await this.claimContext(agent, owner, contextId);
    return first;
  }

  async claimContext(agent: string, owner: string, contextId: string): Promise<void> {
    await this.#claim('context', agent, owner, contextId, contextId);
  }

  async countTasks(agent: string, owner: string, contextId?: string): Promise<number> {
    const { connection, schema } = this.#database;
    const [row] = await connection.query(
      `select count(*) as n from ${schema}.gateway_owners
      where owner_key = $1 and ($2::text is null or context_key = $2)`,
      [columnKey(compositeKey('task', agent, owner)), contextId === undefined ? null : columnKey(contextId)],
    );
    return Number(row?.['n'] ?? 0);
  }

  aliases(agent: string) {
    const { connection, schema } = this.#database;
    const keyOf = (key: string): string => columnKey(compositeKey(agent, key));
    const table = `${schema}.gateway_task_aliases`;
    return {
      get: async (key: string): Promise<TaskIdAlias | undefined> => {
        const [row] = await connection.query(`select body from ${table} where alias_key = $1`, [keyOf(key)]);
        return row && (JSON.parse(String(row['body'])) as TaskIdAlias);
      },
      set: async (key: string, alias: TaskIdAlias): Promise<void> => {
        await connection.query(
          `insert into ${table} (alias_key, body) values ($1, $2)
          on conflict (alias_key) do update set body = excluded.body`,
          [keyOf(key), JSON.stringify(alias)],
        );
        if (!this.#isEvictionDue()) return;
        const oldest = `(select max(position) from ${table}) - $1::bigint`;
        await connection.query(`delete from ${table} where position <= ${oldest}`, [2 * this.#maxPerOwner]);
      },
    };
  }

  meshRegister(agent: string): MeshRegister {
    return new PostgresMeshRegister(this.#database, agent);
  }

  quotas(): QuotaStore {
    return new PostgresQuotas(this.#database);
  }

  close(): Promise<void> {
    this.#stopChecks();
    return this.#database.close();
  }

  /** Requests alone do not tell whether the database responds: a gateway that is not ready gets none. */
  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      await this.#database.connection.query('select 1');
      this.#outage = undefined;
    } catch (thrown) {
      this.#outage = { error: A2AError.from(thrown), ended: undefined };
    } finally {
      this.#isChecking = false;
    }
  }

  async #owner(item: string): Promise<string | undefined> {
    const cached = this.#cache.get(item);
    if (cached !== undefined) return cached;
    const { connection, schema } = this.#database;
    const text = `select owner from ${schema}.gateway_owners where item_key = $1`;
    const [row] = await connection.query(text, [columnKey(item)]);
    return row && this.#remember(item, decodeColumn(row['owner']));
  }

  async #claim(
    kind: OwnedKind,
    agent: string,
    owner: string,
    id: string,
    contextId: string,
  ): Promise<string> {
    const item = compositeKey(kind, agent, id);
    const known = await this.#owner(item);
    if (known !== undefined) return known;
    const { connection, schema } = this.#database;
    const ownerKey = columnKey(compositeKey(kind, agent, owner));
    const inserted = await connection.query(
      `insert into ${schema}.gateway_owners (item_key, owner_key, owner, context_key) values ($1, $2, $3, $4)
      on conflict (item_key) do nothing returning 1`,
      [columnKey(item), ownerKey, encodeColumn(owner), columnKey(contextId)],
    );
    if (inserted.length === 0) return (await this.#owner(item)) ?? owner;
    if (this.#isEvictionDue()) await this.#evict(ownerKey);
    return this.#remember(item, owner);
  }

  async #evict(ownerKey: string): Promise<void> {
    const { connection, schema } = this.#database;
    const table = `${schema}.gateway_owners`;
    await connection.query(
      `delete from ${table} where owner_key = $1 and position <=
        (select position from ${table} where owner_key = $1 order by position desc limit 1 offset $2)`,
      [ownerKey, this.#maxPerOwner],
    );
  }

  #remember(item: string, owner: string): string {
    this.#cache.set(item, owner);
    return owner;
  }

  #isEvictionDue(): boolean {
    return ++this.#inserts % evictionInterval === 0;
  }
}
