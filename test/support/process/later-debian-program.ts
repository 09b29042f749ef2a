import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { aptGet } from './system-program.ts';

const dpkgDeb = '/usr/bin/dpkg-deb';

/**
 * Returns a program of a later Debian release than the installed one. As root on Debian, it downloads the package and
 * unpacks it into the cache folder of the user; nothing is installed.
 *
 * @param path - path of the program inside the package, such as `usr/sbin/nats-server`.
 */
export function findLaterDebianProgram(
  release: string,
  systemPackage: string,
  path: string,
): string | undefined {
  const folder = join(
    process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    'dragoman',
    `debian-${release}`,
  );
  const program = join(folder, systemPackage, path);
  if (existsSync(program)) return program;
  if (process.getuid?.() !== 0 || !existsSync(aptGet)) return undefined;
  console.log(`downloading ${systemPackage} of Debian ${release}`);
  // Test files that run at the same time must not share the folder of a download.
  const work = join(folder, `download-${process.pid}`);
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(work, name), { recursive: true });
  const sources = join(work, 'sources.list');
  writeFileSync(sources, `deb ${mirrorUrl()} ${release} main\n`);
  const apt = (...args: string[]): void => {
    const options = {
      'Dir::Etc::sourcelist': sources,
      'Dir::Etc::sourceparts': '-',
      'Dir::State::lists': join(work, 'lists'),
      'Dir::Cache': join(work, 'cache'),
    };
    const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    spawnSync(aptGet, [...flags, ...args], { cwd: work, stdio: 'ignore' });
  };
  apt('update');
  apt('download', systemPackage);
  const file = readdirSync(work).find((name) => name.endsWith('.deb'));
  if (file) spawnSync(dpkgDeb, ['-x', join(work, file), join(folder, systemPackage)], { stdio: 'ignore' });
  rmSync(work, { recursive: true, force: true });
  return existsSync(program) ? program : undefined;
}

/** Returns the URL of the mirror from which this machine installs packages. */
function mirrorUrl(): string {
  const { stdout } = spawnSync(
    aptGet,
    ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian'],
    { encoding: 'utf8' },
  );
  return stdout.split('\n')[0] ?? '';
}
