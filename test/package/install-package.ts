import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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
  /** Paths of the files in the package. */
  readonly files: readonly string[];
  remove(): void;
}

/**
 * Packs the package and installs it in a new folder. npm does both in one process and runs no scripts: a step before the tests has
 * built the package, and a build here would replace dist/ under other tests.
 */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-package-'));
  const home = join(folder, 'consumer');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional'];
  await run('npm', ['install', '--install-links', ...flags, repositoryRoot], { cwd: home, env: cleanEnv() });
  const installed = join(home, 'node_modules', 'dragoman');
  return {
    home,
    files: readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(installed, join(parentPath, name))),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Packs the package into a folder. @returns the path of the tarball. */
export async function packPackage(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repositoryRoot,
    env: cleanEnv(),
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}
