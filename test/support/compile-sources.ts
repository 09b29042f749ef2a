import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './cli/run-command.ts';

/** Sources as plain JavaScript, for processes that run without a test runner. */
export interface CompiledSources {
  /** Where they lie, as below `src/`. */
  readonly folder: string;
  remove(): void;
}

/** Compiles some files of `src/` and what they import. They must lie where libraries can be found. */
export function compileSources(name: string, files: readonly string[]): CompiledSources {
  const folder = join(repositoryRoot, 'node_modules', '.cache', `dragoman-${name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const project = join(folder, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(repositoryRoot, 'tsconfig.build.json'),
      compilerOptions: { outDir: folder, rootDir: join(repositoryRoot, 'src'), declaration: false },
      include: [],
      files: files.map((file) => join(repositoryRoot, 'src', file)),
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compiler = join(repositoryRoot, 'node_modules/ts7/bin/tsc');
  const result = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stdout);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
