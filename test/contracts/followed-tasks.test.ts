import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { postgresTaskStore } from '../../src/store/postgres.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { createDeferred } from '../support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { describeFollowedTasks } from './followed-tasks.ts';

const pollInterval = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-followed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let places = 0;
const reset = (): void => void places++;

describeFollowedTasks(
  'a SQLite file',
  () =>
    sqliteTaskStore({
      file: join(folder, `${places}.db`),
      shared: true,
      pollInterval,
      leaseTimeout: pollInterval,
    }),
  reset,
);

const server = usePostgres(true);
describeFollowedTasks(
  'PostgreSQL',
  async () => {
    const areActive = createDeferred();
    const taskStore = await postgresTaskStore({
      url: server().url,
      schema: `followed_${places}`,
      pollInterval,
      onWakeUps: (isActive) => isActive && areActive.resolve(),
    });
    await areActive.promise;
    return taskStore;
  },
  reset,
  !hasPostgres,
);
