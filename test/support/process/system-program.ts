import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Path of Debian's package manager. */
export const aptGet = '/usr/bin/apt-get';
const systemFolders = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/sbin'];

/** Returns the path of a program. As root on Debian, it installs the missing package first. */
export function findSystemProgram(program: string, systemPackage: string = program): string | undefined {
  const find = (): string | undefined =>
    [...(process.env['PATH'] ?? '').split(':'), ...systemFolders]
      .map((folder) => join(folder, program))
      .find((path) => existsSync(path));
  return ensureSystemPackage(systemPackage, () => find() !== undefined) ? find() : undefined;
}

/** Returns true if a part of the system is present. As root on Debian, it installs the missing package first. */
export function ensureSystemPackage(systemPackage: string, isPresent: () => boolean): boolean {
  if (isPresent()) return true;
  if (process.getuid?.() !== 0 || !existsSync(aptGet)) return false;
  console.log(`installing ${systemPackage}`);
  install(systemPackage);
  if (isPresent()) return true;
  // A fresh machine has no list of packages, or an old one.
  apt('update');
  install(systemPackage);
  return isPresent();
}

const install = (systemPackage: string): void =>
  apt('install', '-y', '--no-install-recommends', systemPackage);

/** Runs apt-get, after other test files that run it. */
function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync(aptGet, ['-o', 'DPkg::Lock::Timeout=300', ...args], { stdio: 'ignore', env });
}
