import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { unrefClock } from '../../src/primitives/clock.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { describeReplicas, type ReplicaOptions } from './replicas.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-replicas-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A clock whose timers never fire. */
const suspendedClock = { ...unrefClock, after: () => () => {}, every: () => () => {} };

const open = ({ isSuspended }: ReplicaOptions) =>
  sqliteTaskStore({
    file: join(folder, `${files}.db`),
    shared: true,
    wakeUps: !isSuspended,
    pollInterval: 1,
    // A busy machine must not end the lease of a running process.
    leaseTimeout: isSuspended ? 1_000 : 60_000,
    ...(isSuspended && { clock: suspendedClock }),
  });

const reset = async (): Promise<void> => void files++;

describeReplicas('a SQLite file', open, reset);
