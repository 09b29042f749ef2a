import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expandGlob } from './glob.ts';

const directory = mkdtempSync(join(tmpdir(), 'glob-'));
for (const file of [
  'a.yaml',
  'b.yml',
  'notes.md',
  'deep/c.yaml',
  'deep/er/d.yaml',
  'deep/er/e+(1).yaml',
  'node_modules/x.yaml',
  '.hidden/y.yaml',
]) {
  mkdirSync(join(directory, file, '..'), { recursive: true });
  writeFileSync(join(directory, file), '');
}
afterAll(() => rmSync(directory, { recursive: true }));

const found = (pattern: string): string[] =>
  expandGlob(`${directory}/${pattern}`, ['yaml', 'yml']).map((file) => file.slice(directory.length + 1));

describe('expandGlob', () => {
  it.each([
    ['a file', 'notes.md', ['notes.md']],
    ['a directory', 'deep', ['deep/c.yaml', 'deep/er/d.yaml', 'deep/er/e+(1).yaml']],
    ['* within one directory', '*.yaml', ['a.yaml']],
    ['? for one character', '?.y*ml', ['a.yaml', 'b.yml']],
    [
      '** for all directories',
      '**/*.yaml',
      ['a.yaml', 'deep/c.yaml', 'deep/er/d.yaml', 'deep/er/e+(1).yaml'],
    ],
    ['** in the middle', 'deep/**/d.yaml', ['deep/er/d.yaml']],
    ['alternatives', '{a,deep/c}.{yaml,yml}', ['a.yaml', 'deep/c.yaml']],
    ['alternatives that are patterns', '{*.yml,**/d.*}', ['b.yml', 'deep/er/d.yaml']],
    ['characters special to regular expressions', 'deep/er/e+(*).yaml', ['deep/er/e+(1).yaml']],
    ['a pattern without matches', '*.json', []],
    ['a missing directory', 'nowhere/**/*.yaml', []],
  ])('expands %s', (_what, pattern, files) => {
    expect(found(pattern)).toEqual(files);
  });

  it('keeps relative patterns relative', () => {
    const file = 'src/cli/inputs/glob.test.ts';
    expect(expandGlob('src/cli/inputs/glo*.test.ts', [])).toEqual([file]);
    expect(expandGlob('./src/cli/inputs/glo?.test.ts', [])).toEqual([`./${file}`]);
    expect(expandGlob('src/{cli,nowhere}/inputs/glob.test.ts', [])).toEqual([file]);
  });
});
