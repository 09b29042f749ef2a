import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const source = resolve(import.meta.dirname, '../..');

/** Returns all files that loading a file loads: static imports and re-exports of values, without `import()`. */
function loadedFiles(entry: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(entry) || !existsSync(entry)) return loaded;
  loaded.add(entry);
  const text = readFileSync(entry, 'utf8');
  for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)';$/gms))
    loadedFiles(join(dirname(entry), specifier), loaded);
  return loaded;
}

const loadsMutants = (file: string): boolean =>
  [...loadedFiles(join(source, file))].some((each) => each.includes('/conformance/mutants/'));

describe('conformance mutants', () => {
  it.each(['conformance/index.ts', 'cli/main.ts', 'cli/commands/conformance/run.ts', 'console/index.ts'])(
    'loads no mutant in %s',
    (file) => {
      expect(loadedFiles(join(source, file)).size).toBeGreaterThan(1);
      expect(loadsMutants(file)).toBe(false);
    },
  );

  it('loads the mutants in the selftest command', () => {
    expect(loadsMutants('cli/commands/conformance/self-test.ts')).toBe(true);
  });
});
