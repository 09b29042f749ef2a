import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { memoryTaskStore } from '../../src/store/memory-task-store.ts';
import { sqliteTaskStore } from '../../src/store/sqlite.ts';
import { describeTaskStore } from './task-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

describeTaskStore('memory', async (options) => memoryTaskStore(options));
describeTaskStore('SQLite', async (options) => sqliteTaskStore({ ...options, file: newFile() }));
describeTaskStore('SQLite with a cache of one task', async (options) =>
  sqliteTaskStore({ ...options, file: newFile(), maxCachedTasks: 1 }),
);
