import { Pool } from 'pg';
import { afterAll } from 'vitest';
import type { TaskStore } from '../../src/store/task-store.ts';
import { postgresTaskStore, type PostgresTaskStoreOptions } from '../../src/store/postgres.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { describeTaskStore } from './task-store.ts';

const server = usePostgres();
let pool: Pool | undefined;
afterAll(() => pool?.end());

/** Opens a store without tasks. Deleting the rows of the test before is faster than creating tables. */
async function openEmpty(options: PostgresTaskStoreOptions): Promise<TaskStore> {
  pool ??= new Pool({ connectionString: server().url });
  // A busy machine must not end the lease.
  const taskStore = await postgresTaskStore({ lease: 60_000, ...options, pool });
  const tables = ['tasks', 'events', 'owners'];
  await pool.query(tables.map((table) => `delete from dragoman.${table}`).join('; '));
  return taskStore;
}

describeTaskStore('PostgreSQL', (options) => openEmpty(options), !hasPostgres);
describeTaskStore(
  'PostgreSQL with a cache of one task',
  (options) => openEmpty({ ...options, maxCachedTasks: 1 }),
  !hasPostgres,
);
