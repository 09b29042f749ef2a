import type { PostgresRow } from '../postgres/connection.ts';
import { toSettingError } from '../postgres/setting-error.ts';
import { openPostgres, type PostgresDatabaseOptions } from '../postgres/open-postgres.ts';
import { expectSchema } from '../postgres/schema.ts';
import type { ReplicaStatus, StoreStatus } from './store-status.ts';

/** Reads the state of a store in PostgreSQL. */
export async function readPostgresStatus(options: PostgresDatabaseOptions): Promise<StoreStatus> {
  const { connection, schema, schemaName, close } = await openPostgres({ maxConnections: 1, ...options });
  try {
    const schemaVersion = await expectSchema(connection, schemaName);
    const isOpen = `t.state not in ('completed', 'failed', 'canceled', 'rejected')`;
    const replicas = await connection.query(
      `select r.name, r.version, r.since, r.lease, r.expires_at > clock_timestamp() as is_alive,
        extract(epoch from r.expires_at - clock_timestamp()) * 1000 as remaining,
        (select count(*) from ${schema}.tasks t where t.holder = r.epoch and ${isOpen}) as held
      from ${schema}.replicas r order by r.epoch`,
    );
    const states = await connection.query(
      `select t.state, count(*) as n, count(*) filter (where t.state in ('submitted', 'working')
        and not exists (select 1 from ${schema}.replicas r where r.epoch = t.holder
          and r.expires_at > clock_timestamp())) as orphaned
      from ${schema}.tasks t group by t.state order by t.state`,
    );
    const [push] = await connection.query(
      `select count(*) as webhooks, coalesce(sum(t.sequence - p.delivered), 0) as undelivered,
        count(*) filter (where p.last_error like '%"deadSince":%') as dead
      from ${schema}.push_configs p join ${schema}.tasks t on t.key = p.task where not p.finished`,
    );
    return {
      schemaVersion,
      replicas: replicas.map(toReplica),
      tasks: Object.fromEntries(states.map(({ state, n }) => [String(state), Number(n)])),
      orphanedTasks: states.reduce((sum, { orphaned }) => sum + Number(orphaned), 0),
      push: {
        webhooks: Number(push?.['webhooks']),
        undelivered: Number(push?.['undelivered']),
        dead: Number(push?.['dead']),
      },
    };
  } catch (thrown) {
    throw toSettingError(thrown) ?? thrown;
  } finally {
    await close();
  }
}

function toReplica(row: PostgresRow): ReplicaStatus {
  // Replicas of earlier versions have not stored the duration of their lease.
  const lease = Number(row['lease'] ?? 10_000);
  const isAlive = row['is_alive'] === true;
  const remaining = Number(row['remaining']);
  return {
    name: String(row['name']),
    version: row['version'] === null ? undefined : String(row['version']),
    since: new Date(row['since'] as unknown as string).toISOString(),
    heartbeatAge: Math.max(0, Math.round(lease - remaining)),
    lease,
    isAlive,
    heldTasks: Number(row['held']),
  };
}
