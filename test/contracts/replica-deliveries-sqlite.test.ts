import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { unrefClock } from '../../src/primitives/clock.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { describeReplicaDeliveries } from './replica-deliveries.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-deliveries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const suspendedClock = { ...unrefClock, after: () => () => {}, every: () => () => {} };
let files = 0;
const file = (): string => join(folder, `${files}.db`);

describeReplicaDeliveries('a SQLite file', {
  reset: async () => void files++,
  open: (isSuspended) =>
    sqliteTaskStore({
      file: file(),
      shared: true,
      wakeUps: !isSuspended,
      pollInterval: 1,
      leaseTimeout: isSuspended ? 1_000 : 60_000,
      ...(isSuspended && { clock: suspendedClock }),
    }),
  openWithoutLease: () => sqliteTaskStore({ file: file(), withoutLease: true }),
  async deleteLeases() {
    const database = await openDatabase(file());
    database.exec('delete from lease');
    database.close();
  },
});
