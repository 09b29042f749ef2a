import { decodeColumn } from '../../durable/column-encoding.ts';
import type { TaskCommand, UnfinishedTask } from '../../task-store.ts';
import { columnKey } from '../column-key.ts';
import type { PostgresConnection, PostgresRow } from '../connection.ts';
import { endedHolders, lockEndedReplicas } from './ended-holders.ts';

/** Tasks that one replica takes over at a time, so that others can take some as well. */
const takeOverSize = 256;

/** A command with the task that it is for. */
export interface ReceivedCommand {
  readonly owner: string;
  readonly id: string;
  readonly command: TaskCommand;
}

/** Holders of tasks, and commands for them. */
export class TaskHolds {
  readonly #connection: PostgresConnection;
  readonly #claim: string;
  readonly #handOver: string;
  readonly #releaseInterrupted: string;
  readonly #takeOver: string;
  readonly #unknown: string;
  readonly #unfinished: string;
  readonly #insertCommand: string;
  readonly #takeCommands: string;
  readonly #hasWork: string;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    const [tasks, replicas, commands] = ['tasks', 'replicas', 'commands'].map(
      (table) => `${schema}.${table}`,
    );
    const isUnfinished = `state in ('submitted', 'working')`;
    const ended = endedHolders(schema, 'tasks', isUnfinished);
    const endedDelivery = endedHolders(schema, 'push_configs', 'not finished');
    const isHolder = `epoch = (select holder from ${tasks} where key = $2)`;
    // Compares with the holder that the statement has seen first: another one may claim the task before the update.
    this.#claim = `with ended as (${lockEndedReplicas(schema, isHolder)}), removed as (
        select holder from ${tasks} where key = $2 and not exists (select 1 from ${replicas} where epoch = holder)
      )
      update ${tasks} t set holder = $1
      where t.key = $2 and t.state not in ('completed', 'failed', 'canceled', 'rejected') and (t.holder is null
        or t.holder = $1 or t.holder in (select epoch from ended) or t.holder in (select holder from removed))
      returning t.key`;
    this.#handOver = `update ${tasks} t set holder = null from unnest($2::bigint[], $3::text[]) as i (owner, id_key)
      where t.owner = i.owner and t.id_key = i.id_key and t.holder = $1`;
    this.#releaseInterrupted = `update ${tasks} set holder = null where key = any($2::bigint[]) and holder = $1
      and state in ('input-required', 'auth-required')`;
    this.#takeOver = `with ended as (${lockEndedReplicas(schema)}), orphans as (
        select t.key, t.holder from ${tasks} t where ${isUnfinished}
          and (t.holder is null or t.holder = any(array(${endedHolders(schema, 'tasks', isUnfinished, 'select epoch from ended')})))
        order by t.key limit ${takeOverSize} for update skip locked
      ), claimed as (
        update ${tasks} t set holder = $1, attempts = t.attempts + (o.holder is not null)::integer
        from orphans o where t.key = o.key returning t.owner, t.id, t.attempts
      )
      select o.name, c.id, c.attempts from claimed c join ${schema}.owners o on o.key = c.owner`;
    this.#unknown = `select o.name, t.id, t.attempts from ${tasks} t join ${schema}.owners o on o.key = t.owner
      where ${isUnfinished} and t.holder = $1 and t.key <> all($2::bigint[])`;
    this.#unfinished = `select o.name, t.id, t.attempts from ${tasks} t join ${schema}.owners o on o.key = t.owner
      where ${isUnfinished} order by t.touched`;
    this.#insertCommand = `insert into ${commands} (task, body) values ($1, $2)`;
    // Commands that no holder has read within a minute have expired: their senders wait for a shorter time.
    this.#takeCommands = `with taken as (
        delete from ${commands} c using ${tasks} t where t.key = c.task
          and (t.holder = $1 or c.since < clock_timestamp() - interval '1 minute')
        returning c.key, c.body, t.owner, t.id, t.holder
      )
      select o.name, c.id, c.body from taken c join ${schema}.owners o on o.key = c.owner
      where c.holder = $1 order by c.key`;
    this.#hasWork = `select exists (select 1 from ${commands} c join ${tasks} t on t.key = c.task where t.holder = $1) as commands,
      exists (select 1 from ${tasks} where ${isUnfinished} and holder is null) or exists (${ended})
      or exists (select 1 from ${schema}.push_configs where not finished and holder is null)
      or exists (${endedDelivery}) as orphans`;
  }

  /** Claims a task that has no holder, or whose holder has ended. @returns false if another replica holds it. */
  async claim(epoch: number, key: number): Promise<boolean> {
    return (await this.#connection.query(this.#claim, [epoch, key])).length > 0;
  }

  /** Clears the holder of tasks, by keys of owners and ids. */
  async handOver(epoch: number, tasks: readonly { ownerRow: number; id: string }[]): Promise<void> {
    await this.#connection.query(this.#handOver, [
      epoch,
      tasks.map(({ ownerRow }) => ownerRow),
      tasks.map(({ id }) => columnKey(id)),
    ]);
  }

  /** Clears the holder of those of the given tasks that wait for a message. */
  async releaseInterrupted(epoch: number, keys: readonly number[]): Promise<void> {
    await this.#connection.query(this.#releaseInterrupted, [epoch, keys]);
  }

  /** Claims unfinished tasks without a holder, and those of replicas that have ended. */
  async takeOver(epoch: number): Promise<UnfinishedTask[]> {
    return (await this.#connection.query(this.#takeOver, [epoch])).map(toUnfinished);
  }

  /** Returns the unfinished tasks that a replica holds, except for those with known keys. */
  async listUnknown(epoch: number, known: readonly number[]): Promise<UnfinishedTask[]> {
    return (await this.#connection.query(this.#unknown, [epoch, known])).map(toUnfinished);
  }

  async listUnfinished(): Promise<UnfinishedTask[]> {
    const rows = await this.#connection.query(this.#unfinished);
    return rows.map(toUnfinished).map(({ owner, id }) => ({ owner, id }));
  }

  async addCommand(key: number, command: TaskCommand): Promise<void> {
    await this.#connection.query(this.#insertCommand, [key, JSON.stringify(command)]);
  }

  /** Removes and returns the commands for tasks that a replica holds. */
  async takeCommands(epoch: number): Promise<ReceivedCommand[]> {
    const rows = await this.#connection.query(this.#takeCommands, [epoch]);
    return rows.map(({ name, id, body }) => ({
      owner: decodeColumn(name),
      id: decodeColumn(id),
      command: JSON.parse(String(body)) as TaskCommand,
    }));
  }

  /** Returns whether there are commands for a replica, and tasks or webhooks to take over. */
  async findWork(epoch: number): Promise<{ hasCommands: boolean; hasOrphans: boolean }> {
    const [row] = await this.#connection.query(this.#hasWork, [epoch]);
    return { hasCommands: row?.['commands'] === true, hasOrphans: row?.['orphans'] === true };
  }
}

function toUnfinished({ name, id, attempts }: PostgresRow): UnfinishedTask {
  return { owner: decodeColumn(name), id: decodeColumn(id), attempts: Number(attempts) };
}
