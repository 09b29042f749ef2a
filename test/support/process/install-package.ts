import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Installs packages from the npm registry into the cache folder of the user, unless they are there, without running
 * scripts. @returns the folder with `node_modules`, or undefined after it has printed why they are missing.
 */
export function installPackages(
  name: string,
  packages: { readonly [name: string]: string },
): string | undefined {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const versions = Object.values(packages).join('-');
  const folder = join(cache, 'dragoman', `${name}-${versions}`);
  const isInstalled = () =>
    Object.keys(packages).every((each) => existsSync(join(folder, 'node_modules', each, 'package.json')));
  if (isInstalled()) return folder;
  mkdirSync(folder, { recursive: true });
  const wanted = Object.entries(packages).map(([each, version]) => `${each}@${version}`);
  console.log(`installing ${wanted.join(' ')} in ${folder}`);
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
  const { status, stderr } = spawnSync('npm', [...args, ...wanted], { encoding: 'utf8' });
  if (status === 0 && isInstalled()) return folder;
  console.log(`skipped: ${wanted.join(' ')} cannot be installed: ${stderr?.trim().split('\n')[0] ?? ''}`);
  return undefined;
}
