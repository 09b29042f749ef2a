import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { memoryLedger } from '../../src/store/memory-task-store.ts';
import { sqliteLedger } from '../../src/store/sqlite.ts';
import { describeLedger } from './task-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

describeLedger('memory', async (options) => memoryLedger(options));
describeLedger('SQLite', async (options) => sqliteLedger({ ...options, file: newFile() }));
describeLedger('SQLite that keeps next to nothing in memory', async (options) =>
  sqliteLedger({ ...options, file: newFile(), maxCachedTasks: 1 }),
);
