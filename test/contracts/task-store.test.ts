import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { memoryTaskStore } from '../../src/store/memory-task-store.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { describeLedger } from './task-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

describeLedger('memory', async (options) => memoryTaskStore(options));
describeLedger('SQLite', async (options) => sqliteTaskStore({ ...options, file: newFile() }));
describeLedger('SQLite that keeps next to nothing in memory', async (options) =>
  sqliteTaskStore({ ...options, file: newFile(), maxCachedTasks: 1 }),
);
