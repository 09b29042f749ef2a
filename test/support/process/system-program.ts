import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const aptGet = '/usr/bin/apt-get';
const places = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/sbin'];

/** Where a program is; on a Debian that is ours to change, its package is installed when it is missing. */
export function findSystemProgram(program: string, systemPackage: string = program): string | undefined {
  const look = (): string | undefined =>
    [...(process.env['PATH'] ?? '').split(':'), ...places]
      .map((folder) => join(folder, program))
      .find((path) => existsSync(path));
  const found = look();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && existsSync(aptGet)) {
    console.log(`installing ${systemPackage}`);
    spawnSync(aptGet, ['install', '-y', systemPackage], { stdio: 'ignore' });
  }
  return look();
}
