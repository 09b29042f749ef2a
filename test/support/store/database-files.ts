import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
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

/** Folders with the files of an empty server, by the folder of the programs that created them. */
const templates = new Map<string, string>();

/**
 * Creates the files of an empty server in `folder/data`. `initdb` takes a second of processor time, so it runs once per
 * process, and its files are copied.
 */
export function createDatabaseFiles(programs: string, folder: string): void {
  let template = templates.get(programs);
  if (template === undefined) {
    const created = createDatabaseFolder();
    const data = ['--pgdata', join(created, 'data'), '--auth', 'trust', '--username', 'test', '--no-sync'];
    run(join(programs, 'initdb'), data, created);
    process.once('exit', () => rmSync(created, { recursive: true, force: true }));
    templates.set(programs, created);
    template = created;
  }
  run('cp', ['-a', join(template, 'data'), join(folder, 'data')], folder);
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { ...unprivileged(), cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
