import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { repositoryRoot } from './support/cli/run-command.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-publish-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command that npm runs before `npm publish`, with a changed manifest. */
function check(changes: object) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...packageJson, ...changes }));
  const [command, script = ''] = packageJson.scripts.prepublishOnly.split(' ');
  expect(command).toBe('node');
  return spawnSync(process.execPath, [join(repositoryRoot, script)], { cwd: folder, encoding: 'utf8' });
}

it('fails to publish with provenance and without a repository', () => {
  for (const repository of [undefined, {}, { url: '' }]) {
    const { status, stderr } = check({ repository });
    expect(status).toBe(1);
    expect(stderr).toContain('error: package.json has no repository.url, which provenance requires');
    expect(stderr).toContain('hint: npm pkg set repository.type=git');
  }
});

it('publishes with a repository, or without provenance', () => {
  expect(check({ repository: { type: 'git', url: 'git+https://example.com/o/n.git' } }).status).toBe(0);
  expect(check({ repository: 'https://example.com/o/n.git' }).status).toBe(0);
  expect(check({ repository: undefined, publishConfig: {} }).status).toBe(0);
});
