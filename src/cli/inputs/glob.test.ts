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

describe('a pattern', () => {
  it.each([
    ['a file', 'notes.md', ['notes.md']],
    ['a directory', 'deep', ['deep/c.yaml', 'deep/er/d.yaml', 'deep/er/e+(1).yaml']],
    ['everything of a level', '*.yaml', ['a.yaml']],
    ['one character', '?.y*ml', ['a.yaml', 'b.yml']],
    ['every level', '**/*.yaml', ['a.yaml', 'deep/c.yaml', 'deep/er/d.yaml', 'deep/er/e+(1).yaml']],
    ['every level in the middle', 'deep/**/d.yaml', ['deep/er/d.yaml']],
    ['alternatives', '{a,deep/c}.{yaml,yml}', ['a.yaml', 'deep/c.yaml']],
    ['alternatives of patterns', '{*.yml,**/d.*}', ['b.yml', 'deep/er/d.yaml']],
    ['a name with odd characters', 'deep/er/e+(*).yaml', ['deep/er/e+(1).yaml']],
    ['nothing', '*.json', []],
    ['a directory that is not there', 'nowhere/**/*.yaml', []],
  ])('gives %s', (_what, pattern, files) => {
    expect(found(pattern)).toEqual(files);
  });

  it('may be relative', () => {
    expect(expandGlob('src/cli/inputs/glo*.test.ts', [])).toEqual(['src/cli/inputs/glob.test.ts']);
    expect(expandGlob('./src/cli/inputs/glo?.test.ts', [])).toEqual(['./src/cli/inputs/glob.test.ts']);
    expect(expandGlob('src/{cli,nowhere}/inputs/glob.test.ts', [])).toEqual(['src/cli/inputs/glob.test.ts']);
  });
});
