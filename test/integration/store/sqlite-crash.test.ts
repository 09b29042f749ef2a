import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const writer = fileURLToPath(new URL('fixtures/ledger-writer.mjs', import.meta.url));
// The process that dies runs plain JavaScript, made of the same sources; it must lie where `libsql` can be found.
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
      files: [join(root, 'src/ledger/sqlite.ts')],
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

/** Lets a process write until it has printed so many lines, and kills it in the middle of its work. */
function writeAndDie(file: string, seed: number, lines: number): Promise<Map<string, number>> {
  return new Promise((resolve, reject) => {
    const module = join(built, 'ledger', 'sqlite.js');
    const child = spawn(process.execPath, [writer, module, file, String(seed)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let count = 0;
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      count += text.split('\n').length - 1;
      if (count >= lines) child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself: ${complaints}`));
      else resolve(promisesIn(printed));
    });
  });
}

/** The newest sequence number of each task that was said to be stored. */
function promisesIn(printed: string): Map<string, number> {
  const promises = new Map<string, number>();
  // What follows the last line break is half a line.
  for (const line of printed.split('\n').slice(0, -1)) {
    const [task = '', sequence] = line.split(' ');
    promises.set(task, Math.max(promises.get(task) ?? 0, Number(sequence)));
  }
  return promises;
}

async function checkIntegrity(file: string): Promise<void> {
  const database = await openDatabase(file);
  try {
    expect(database.prepare('pragma integrity_check').get([])?.['integrity_check']).toBe('ok');
    const counted = database.prepare('select state, n from counts where n <> 0 order by state').all([]);
    const real = database
      .prepare('select state, count(*) as n from tasks group by state order by state')
      .all([]);
    const plain = (rows: typeof real) => rows.map(({ state, n }) => ({ state, n }));
    expect(plain(counted)).toEqual(plain(real));
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
])(
  'keeps every change that was said to be stored when the process is killed (seed %i)',
  async (seed, lines) => {
    const file = join(folder, `${seed}.db`);
    const promises = await writeAndDie(file, seed, lines);
    // A second life on the same file, which must neither lose the first nor stumble over it.
    for (const [task, sequence] of await writeAndDie(file, seed + 100, lines)) promises.set(task, sequence);
    expect(promises.size).toBeGreaterThan(0);

    const ledger = await sqliteTaskStore({ file });
    for (const [task, sequence] of promises) {
      const log = await ledger.open('ann', task);
      expect(log?.sequence).toBeGreaterThanOrEqual(sequence);
      const seen: (number | undefined)[] = [];
      const follower = log?.subscribe(1, (event) => event.sequence === log.sequence);
      if (log && log.sequence > 1) for await (const event of follower ?? []) seen.push(event.sequence);
      expect(seen).toEqual(Array.from({ length: (log?.sequence ?? 0) - 1 }, (_, n) => n + 2));
      const parts = log?.task().artifacts?.[0]?.parts.length ?? 0;
      expect(parts).toBe((log?.sequence ?? 0) - 1 - (log?.state === 'completed' ? 1 : 0));
    }
    await ledger[Symbol.asyncDispose]();
    await checkIntegrity(file);
  },
);
