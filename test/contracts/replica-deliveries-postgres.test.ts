import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { unrefClock } from '../../src/primitives/clock.ts';
import { postgresTaskStore } from '../../src/store/postgres.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { describeReplicaDeliveries } from './replica-deliveries.ts';

const server = usePostgres();
const suspendedClock = { ...unrefClock, every: () => () => {} };
let pool: Pool | undefined;
afterAll(() => pool?.end());

describeReplicaDeliveries(
  'PostgreSQL',
  {
    async reset() {
      pool ??= new Pool({ connectionString: server().url });
      await pool.query('drop schema if exists dragoman cascade');
    },
    open: (isSuspended) =>
      postgresTaskStore({
        url: server().url,
        lease: isSuspended ? 1_000 : 60_000,
        pollInterval: 100,
        wakeUps: !isSuspended,
        maxConnections: 3,
        ...(isSuspended && { clock: suspendedClock }),
      }),
    openWithoutLease: () => postgresTaskStore({ url: server().url, withoutLease: true, maxConnections: 2 }),
    async deleteLeases() {
      await pool?.query('delete from dragoman.replicas');
    },
  },
  !hasPostgres,
);
