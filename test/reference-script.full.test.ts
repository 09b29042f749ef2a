import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runNode, repositoryRoot } from './support/cli/run-command.ts';

const script = join(repositoryRoot, 'scripts/reference.mjs');

it('the API reference matches the TSDoc comments, which every export has', async () => {
  expect(await runNode([script, '--check']).ended).toMatchObject({ code: 0, stdout: '' });
}, 120_000);

describe('scripts/reference.mjs', () => {
  let package_: string;

  beforeEach(() => {
    package_ = mkdtempSync(join(tmpdir(), 'dragoman-reference-'));
    mkdirSync(join(package_, 'src'));
    symlinkSync(join(repositoryRoot, 'node_modules'), join(package_, 'node_modules'));
    const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
    writeFileSync(join(package_, 'package.json'), JSON.stringify({ name: 'small', type: 'module', exports }));
  });
  afterEach(() => rmSync(package_, { recursive: true, force: true }));

  const run = (...flags: string[]) => runNode([script, ...flags], { cwd: package_ }).ended;
  const source = (text: string) => writeFileSync(join(package_, 'src/index.ts'), text);

  it('reports stale pages and undocumented exports with the fix', async () => {
    source('/** Numbers. @module */\n/** A number. */\nexport const one = 1;\nexport const two = 2;\n');
    const first = await run('--check');
    expect(first.code).toBe(1);
    expect(first.stdout.split('\n')).toEqual([
      'stale: docs/reference/api/README.md',
      'stale: docs/reference/api/root.md',
      'no sentence: small two',
      'Run `npm run reference` to update them.',
      '',
    ]);
    await run();
    source(
      '/** Numbers. @module */\n/** A number. */\nexport const one = 1;\n/** Two. */\nexport const two = 2;\n',
    );
    const second = await run('--check');
    expect(second.code).toBe(1);
    expect(second.stdout).toBe(
      'stale: docs/reference/api/root.md\nRun `npm run reference` to update them.\n',
    );
  }, 120_000);
});
