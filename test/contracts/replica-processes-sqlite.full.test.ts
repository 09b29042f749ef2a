import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { describeReplicaProcesses } from './replica-processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-shared-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The others notice that the process does not exist any more.
describeReplicaProcesses('a SQLite file', (test) => `sqlite:${join(folder, test)}.db?shared`, {
  maxTakeover: 3_000,
});
