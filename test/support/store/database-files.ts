import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the user of PostgreSQL, which refuses to run as root. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const read = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  return { uid: read('-u'), gid: read('-g') };
}

/** Creates a temporary folder that belongs to the user of PostgreSQL. */
export function createDatabaseFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-postgres-'));
  const { uid, gid } = unprivileged();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/**
 * Creates the files of an empty server in `folder/data`. `initdb` takes a second of processor time, so it runs once per test
 * run, and its files are copied.
 */
export function createDatabaseFiles(programs: string, folder: string): void {
  const template = join(
    tmpdir(),
    `dragoman-postgres-template-${hash('sha256', programs, 'hex').slice(0, 16)}`,
  );
  if (!existsSync(template)) createTemplate(programs, template);
  run('cp', ['-a', join(template, 'data'), join(folder, 'data')], folder);
}

function createTemplate(programs: string, template: string): void {
  const created = createDatabaseFolder();
  const data = ['--pgdata', join(created, 'data'), '--auth', 'trust', '--username', 'test', '--no-sync'];
  run(join(programs, 'initdb'), data, created);
  try {
    renameSync(created, template);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(template)) throw error;
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { ...unprivileged(), cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
