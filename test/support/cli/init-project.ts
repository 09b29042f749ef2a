import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type CommandResult, repositoryRoot, runDragoman } from './run-command.ts';
import { runInProcess } from './run-in-process.ts';

/** The package.json of a project of `dragoman init`. */
interface ProjectManifest {
  name: string;
  engines?: { node: string };
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** A folder in which `dragoman init` is run. */
export interface InitFolder {
  readonly path: string;
  init(...args: string[]): Promise<CommandResult>;
}

/** Creates a folder for each test. */
export function useInitFolder(): InitFolder {
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'dragoman-init-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
    init: (...args) => runInProcess(['init', ...args], { cwd: path, env: { NO_COLOR: '1' } }),
  };
}

export function readProjectManifest(project: string): ProjectManifest {
  return JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as ProjectManifest;
}

/** Links the packages that npm would install. */
export function linkPackages(project: string, ...packages: string[]): void {
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(repositoryRoot, join(project, 'node_modules', 'dragoman'));
  for (const name of packages)
    symlinkSync(join(repositoryRoot, 'node_modules', name), join(project, 'node_modules', name));
}

/** Runs a package script, which calls dragoman. */
export function runPackageScript(project: string, name: string): Promise<CommandResult> {
  const [command, ...words] = readProjectManifest(project).scripts[name]?.split(' ') ?? [];
  expect(command).toBe('dragoman');
  return runDragoman(words, { cwd: project }).ended;
}
