import { isTerminal } from '../../../protocol/task.ts';
import { decodeColumn } from '../../durable/column-encoding.ts';
import type { LogCache } from '../../durable/log-cache.ts';
import type { StoreReplica, TaskHolder } from '../../store-replica.ts';
import { columnKey } from '../column-key.ts';
import type { PostgresConnection } from '../connection.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';

/** Collaborators of {@link PostgresStoreReplica}. */
interface StoreReplicaContext {
  readonly schema: string;
  readonly cache: LogCache<HeldTaskLog>;
  hasOutage(): boolean;
  /** Returns whether notifications arrive; undefined if they are not used. */
  hasWakeUps(): boolean | undefined;
}

/** What operators see of a replica with a task store in PostgreSQL. */
export class PostgresStoreReplica implements StoreReplica {
  onEvent: StoreReplica['onEvent'] = undefined;
  readonly #connection: PostgresConnection;
  readonly #context: StoreReplicaContext;

  constructor(connection: PostgresConnection, context: StoreReplicaContext) {
    this.#connection = connection;
    this.#context = context;
  }

  heldTasks(): number {
    let held = 0;
    for (const log of this.#context.cache.logs()) if (log.isHeld && !isTerminal(log.state)) held++;
    return held;
  }

  checks(): { readonly [part: string]: string } {
    const hasWakeUps = this.#context.hasWakeUps();
    return {
      database: this.#context.hasOutage() ? 'unavailable' : 'connected',
      wakeUps: hasWakeUps === undefined ? 'off' : hasWakeUps ? 'active' : 'polling',
    };
  }

  async findHolders(taskId: string): Promise<readonly TaskHolder[]> {
    const { schema } = this.#context;
    const rows = await this.#connection.query(
      `select o.name as owner, r.name, r.expires_at > clock_timestamp() as is_alive
      from ${schema}.tasks t join ${schema}.owners o on o.key = t.owner
      left join ${schema}.replicas r on r.epoch = t.holder
        and t.state not in ('completed', 'failed', 'canceled', 'rejected') where t.id_key = $1 limit 100`,
      [columnKey(taskId)],
    );
    return rows.map(({ owner, name, is_alive: isAlive }) => ({
      owner: decodeColumn(owner),
      replica: name === null ? undefined : String(name),
      isAlive: isAlive === true,
    }));
  }
}
