import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { textOf } from '../../../src/protocol/part.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const writer = fileURLToPath(new URL('../fixtures/task-store-writer.mjs', import.meta.url));
// The killed process runs JavaScript compiled from the same sources, in a folder from which `libsql` can be resolved.
const built = join(root, 'node_modules', '.cache', `dragoman-crash-${process.pid}`);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-crash-'));

beforeAll(() => {
  mkdirSync(built, { recursive: true });
  const project = join(built, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.build.json'),
      compilerOptions: { outDir: built, rootDir: join(root, 'src'), declaration: false },
      include: [],
      files: [join(root, 'src/store/sqlite.ts')],
    }),
  );
  writeFileSync(join(built, 'package.json'), '{"type":"module"}');
  const compiler = join(root, 'node_modules/ts7/bin/tsc');
  const result = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stdout);
});

afterAll(() => {
  rmSync(built, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a writer process and kills it after it has printed `lines` lines. */
function writeUntilKilled(file: string, seed: number, lines: number): Promise<Map<string, number>> {
  return new Promise((resolve, reject) => {
    const module = join(built, 'store', 'sqlite.js');
    const child = spawn(process.execPath, [writer, module, file, String(seed)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let count = 0;
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      count += text.split('\n').length - 1;
      if (count >= lines) child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer exited early: ${stderr}`));
      else resolve(parsePersisted(printed));
    });
  });
}

/** Returns the highest sequence number of each task that was reported as persisted. */
function parsePersisted(printed: string): Map<string, number> {
  const persisted = new Map<string, number>();
  // The last line may be incomplete.
  for (const line of printed.split('\n').slice(0, -1)) {
    const [task = '', sequence] = line.split(' ');
    persisted.set(task, Math.max(persisted.get(task) ?? 0, Number(sequence)));
  }
  return persisted;
}

async function checkIntegrity(file: string): Promise<void> {
  const database = await openDatabase(file);
  try {
    expect(database.prepare('pragma integrity_check').get([])?.['integrity_check']).toBe('ok');
    const counted = database.prepare('select state, n from counts where n <> 0 order by state').all([]);
    const real = database
      .prepare('select state, count(*) as n from tasks group by state order by state')
      .all([]);
    const toStateCounts = (rows: typeof real) => rows.map(({ state, n }) => ({ state, n }));
    expect(toStateCounts(counted)).toEqual(toStateCounts(real));
  } finally {
    database.close();
  }
}

it.each([
  [1, 1],
  [2, 40],
  [3, 300],
  [4, 900],
  [5, 1_500],
])('SQLite task store keeps every persisted change after SIGKILL (seed %i)', async (seed, lines) => {
  const file = join(folder, `${seed}.db`);
  const persisted = await writeUntilKilled(file, seed, lines);
  // A second process on the same file must not lose changes of the first one.
  for (const [task, sequence] of await writeUntilKilled(file, seed + 100, lines))
    persisted.set(task, sequence);
  expect(persisted.size).toBeGreaterThan(0);

  const taskStore = await sqliteTaskStore({ file });
  for (const [task, sequence] of persisted) {
    const log = await taskStore.open('ann', task);
    expect(log?.sequence).toBeGreaterThanOrEqual(sequence);
    const sequences: (number | undefined)[] = [];
    const subscription = log?.subscribe(1, (event) => event.sequence === log.sequence);
    if (log && log.sequence > 1) for await (const event of subscription ?? []) sequences.push(event.sequence);
    expect(sequences).toEqual(Array.from({ length: (log?.sequence ?? 0) - 1 }, (_, n) => n + 2));
    // Every chunk starts with a bar; the store joins them.
    const chunks = textOf(log?.task().artifacts?.[0]?.parts ?? []).split('|').length - 1;
    expect(chunks).toBe((log?.sequence ?? 0) - 1 - (log?.state === 'completed' ? 1 : 0));
  }
  await taskStore[Symbol.asyncDispose]();
  await checkIntegrity(file);
});
