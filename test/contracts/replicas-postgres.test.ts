import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { unrefClock } from '../../src/primitives/clock.ts';
import { postgresTaskStore } from '../../src/store/postgres.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { describeReplicas, type ReplicaOptions } from './replicas.ts';

const server = usePostgres();
let pool: Pool | undefined;
afterAll(() => pool?.end());

/** A clock whose periodic timers never fire. */
const suspendedClock = { ...unrefClock, every: () => () => {} };

const open = ({ isSuspended }: ReplicaOptions, wakeUps: boolean) =>
  postgresTaskStore({
    url: server().url,
    // A busy machine must not end the lease of a running process.
    lease: isSuspended ? 1_000 : 60_000,
    pollInterval: 100,
    // A suspended process does not receive notifications.
    wakeUps: wakeUps && !isSuspended,
    maxConnections: 3,
    ...(isSuspended && { clock: suspendedClock }),
  });

async function reset(): Promise<void> {
  pool ??= new Pool({ connectionString: server().url });
  await pool.query('drop schema if exists dragoman cascade');
}

describeReplicas('PostgreSQL', (options) => open(options, true), reset, { isSkipped: !hasPostgres });
describeReplicas('PostgreSQL without wake-ups', (options) => open(options, false), reset, {
  isSkipped: !hasPostgres,
});
