import { taskNotFound } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { decodeColumn } from '../durable/column-encoding.ts';
import type { PushDelivery, PushDeliveryState } from '../task-store.ts';
import { columnKey } from './column-key.ts';
import type { PostgresConnection, PostgresRow } from './connection.ts';
import type { PostgresOwnerTable } from './postgres-owner-table.ts';
import { endedHolders, lockEndedReplicas } from './replicas/ended-holders.ts';

/** Webhooks that one replica takes over at a time, so that others can take some as well. */
const takeOverSize = 256;

/** Push configurations of tasks in order of creation, with their delivery state. */
export class PostgresPushConfigTable {
  readonly #connection: PostgresConnection;
  readonly #owners: PostgresOwnerTable;
  readonly #put: string;
  readonly #list: string;
  readonly #delete: string;
  readonly #putDelivery: string;
  readonly #listDeliveries: string;
  readonly #find: string;
  readonly #takeOver: string;
  readonly #listHeld: string;
  readonly #release: string;

  constructor(connection: PostgresConnection, schema: string, owners: PostgresOwnerTable) {
    this.#connection = connection;
    this.#owners = owners;
    const ofTask = `task = (select key from ${schema}.tasks where owner = $1 and id_key = $2)`;
    this.#put = `insert into ${schema}.push_configs (task, id_key, body, delivered, holder)
      select key, $3, $4, $5::integer, $6::bigint from ${schema}.tasks where owner = $1 and id_key = $2
      on conflict (task, id_key) do update set body = excluded.body, last_error = null, holder = excluded.holder
      returning delivered`;
    this.#list = `select body from ${schema}.push_configs where ${ofTask} order by position`;
    this.#delete = `delete from ${schema}.push_configs where ${ofTask} and id_key = $3`;
    // The holder alone moves the cursor. No replica delivers to a dead letter, so any may retry it. A task in a terminal state
    // gets no more events, so a complete delivery stays finished.
    this.#putDelivery = `update ${schema}.push_configs p set delivered = $4::integer, last_error = $5, finished =
      (t.sequence <= $4::integer and t.state in ('completed', 'failed', 'canceled', 'rejected'))
      from ${schema}.tasks t where t.key = p.task and t.owner = $1 and t.id_key = $2 and p.id_key = $3 and (p.holder = $6::bigint
        or (p.delivered = $4::integer and p.last_error::json ->> 'deadSince' is not null)) returning 1`;
    this.#listDeliveries = `select o.name, p.body, p.delivered, p.last_error, t.sequence from ${schema}.push_configs p
      join ${schema}.tasks t on t.key = p.task join ${schema}.owners o on o.key = t.owner
      where not p.finished order by p.position`;
    this.#find = `select body from ${schema}.push_configs where ${ofTask} and id_key = $3 and holder = $4::bigint`;
    this.#takeOver = `with ended as (${lockEndedReplicas(schema)}), orphans as (
        select position from ${schema}.push_configs where not finished and (holder is null
          or holder = any(array(${endedHolders(schema, 'push_configs', 'not finished', 'select epoch from ended')})))
        order by position limit ${takeOverSize} for update skip locked
      ), claimed as (
        update ${schema}.push_configs p set holder = $1 from orphans o where p.position = o.position
        returning p.position, p.task, p.body, p.delivered, p.last_error
      )
      select o.name, c.body, c.delivered, c.last_error, t.sequence from claimed c
      join ${schema}.tasks t on t.key = c.task join ${schema}.owners o on o.key = t.owner order by c.position`;
    this.#listHeld = `select o.name, p.body, p.delivered, p.last_error, t.sequence from ${schema}.push_configs p
      join ${schema}.tasks t on t.key = p.task join ${schema}.owners o on o.key = t.owner
      where not p.finished and p.holder = $1`;
    this.#release = `update ${schema}.push_configs set holder = null where holder = $1 and not finished returning 1`;
  }

  /** @throws {@link A2AError} `TASK_NOT_FOUND` */
  async put(owner: string, config: PushConfig, delivered: number, epoch: number): Promise<PushDeliveryState> {
    const { id, taskId } = config;
    const keys = await this.#keys(owner, taskId, id);
    const [row] = await this.#connection.query(this.#put, [
      ...keys,
      JSON.stringify(config),
      delivered,
      epoch,
    ]);
    if (!row) throw taskNotFound(taskId);
    return { delivered: Number(row['delivered']), attempts: 0 };
  }

  async list(owner: string, taskId: string): Promise<PushConfig[]> {
    const [ownerRow, taskKey] = await this.#keys(owner, taskId, '');
    const rows = await this.#connection.query(this.#list, [ownerRow, taskKey]);
    return rows.map(({ body }) => JSON.parse(String(body)) as PushConfig);
  }

  async delete(owner: string, taskId: string, id: string): Promise<void> {
    await this.#connection.query(this.#delete, await this.#keys(owner, taskId, id));
  }

  /** @returns false if the configuration does not exist, or if another replica holds it. */
  async putDelivery(
    owner: string,
    taskId: string,
    id: string,
    { delivered, ...failure }: PushDeliveryState,
    epoch: number,
  ): Promise<boolean> {
    const lastError = failure.attempts === 0 ? null : JSON.stringify(failure);
    const values = [...(await this.#keys(owner, taskId, id)), delivered, lastError, epoch];
    return (await this.#connection.query(this.#putDelivery, values)).length > 0;
  }

  /** Returns a configuration that a replica holds. */
  async findHeld(owner: string, taskId: string, id: string, epoch: number): Promise<PushConfig | undefined> {
    const values = [...(await this.#keys(owner, taskId, id)), epoch];
    const [row] = await this.#connection.query(this.#find, values);
    return row && (JSON.parse(String(row['body'])) as PushConfig);
  }

  /** Claims configurations without a holder, and those of replicas that have ended. */
  async takeOver(epoch: number): Promise<PushDelivery[]> {
    return (await this.#connection.query(this.#takeOver, [epoch])).map(toDelivery);
  }

  /** Returns the configurations with outstanding deliveries that a replica holds. */
  async listHeld(epoch: number): Promise<PushDelivery[]> {
    const rows = await this.#connection.query(this.#listHeld, [epoch]);
    return rows.map((row) => ({ ...toDelivery(row), isHeld: true }));
  }

  /** Clears the holder of all configurations of a replica. @returns false if it held none. */
  async release(epoch: number): Promise<boolean> {
    return (await this.#connection.query(this.#release, [epoch])).length > 0;
  }

  async listDeliveries(): Promise<PushDelivery[]> {
    return (await this.#connection.query(this.#listDeliveries)).map(toDelivery);
  }

  /** Returns the keys of a configuration; those of an unknown owner match nothing. */
  async #keys(owner: string, taskId: string, id: string): Promise<[number, string, string]> {
    return [(await this.#owners.find(owner)) ?? 0, columnKey(taskId), columnKey(id)];
  }
}

function toDelivery(row: PostgresRow): PushDelivery {
  const lastError = row['last_error'];
  return {
    owner: decodeColumn(row['name']),
    config: JSON.parse(String(row['body'])) as PushConfig,
    state: {
      delivered: Number(row['delivered']),
      ...(lastError === null ? { attempts: 0 } : (JSON.parse(String(lastError)) as { attempts: number })),
    },
    sequence: Number(row['sequence']),
  };
}
