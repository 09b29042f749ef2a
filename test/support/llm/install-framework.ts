import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A framework in the cache folder of the user. */
export interface InstalledFramework {
  /** The folders of all installed packages and scopes. */
  readonly packages: readonly string[];
  /** Imports a module of the framework. */
  import<T>(specifier: string): Promise<T>;
}

/**
 * Installs a framework that is too large for the dev dependencies into the cache folder of the user, without scripts.
 *
 * @returns the reason as a text if it cannot be installed, for example without a network
 */
export function installFramework(name: string, packages: readonly string[]): InstalledFramework | string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'dragoman', `llm-${name}`);
  const stamp = join(folder, 'installed.json');
  const wanted = JSON.stringify(packages);
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--no-save'];
    const { status, stderr } = spawnSync('npm', [...args, ...packages], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, npm_config_engine_strict: 'false', npm_config_legacy_peer_deps: 'true' },
    });
    if (status !== 0) return `npm cannot install ${packages.join(' ')}: ${stderr.slice(-500)}`;
    writeFileSync(stamp, wanted);
  }
  const { resolve } = createRequire(join(folder, 'package.json'));
  return {
    packages: readdirSync(join(folder, 'node_modules'))
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(folder, 'node_modules', name)),
    import: async <T>(specifier: string) => (await import(pathToFileURL(resolve(specifier)).href)) as T,
  };
}
