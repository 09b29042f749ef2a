import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../support/cli/run-command.ts';

export const run = promisify(execFile);

interface Manifest {
  version: string;
  dependencies: { [name: string]: string };
  peerDependencies: { [name: string]: string };
  exports: { [subpath: string]: string | { types: string; default: string } };
}

export const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as Manifest;
export const modules = Object.entries(manifest.exports).filter(
  (entry): entry is [string, { types: string; default: string }] => typeof entry[1] === 'object',
);
export const specifiers = modules
  .map(([subpath]) => subpath.replace(/^\./, 'dragoman'))
  // It needs the vitest of the user; test/examples-testing.test.ts runs it.
  .filter((specifier) => specifier !== 'dragoman/testkit/vitest');

/** npm, as a newcomer runs it: nothing of the npm that runs the tests reaches it. */
export function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|userconfig))/i.test(name),
    ),
  );
}

/** The packed package, installed in the folder of a consumer. */
export interface InstalledPackage {
  /** Folder of the consumer. */
  readonly home: string;
  readonly tarball: string;
  /** Paths of the files in the tarball. */
  readonly files: readonly string[];
  remove(): void;
}

/** Packs the package and installs it in a new folder. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-package-'));
  const home = join(folder, 'consumer');
  // The step before has built it; building here would replace dist/ under other tests.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repositoryRoot,
    env: cleanEnv(),
  });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const tarball = join(folder, filename);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', tarball], {
    cwd: home,
    env: cleanEnv(),
  });
  return {
    home,
    tarball,
    files: files.map(({ path }) => path),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
