import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { repositoryRoot } from './cli/run-command.ts';

/** Sources compiled to JavaScript, for child processes without the test runner. */
export interface CompiledSources {
  /** The output folder; paths in it are relative to `src/`. */
  readonly folder: string;
  remove(): void;
}

/** Compiles files of `src/` and their imports into `node_modules/.cache`, where Node.js resolves packages. */
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
  const imports = JSON.stringify(packageJson.imports).replaceAll('./dist/', './');
  writeFileSync(join(folder, 'package.json'), `{"type":"module","imports":${imports}}`);
  const compiler = join(repositoryRoot, 'node_modules/ts7/bin/tsc');
  const result = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stdout);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
