import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot, runNode } from './support/cli/run-command.ts';

describe('scripts/build.mjs --if-stale', () => {
  it('does not touch dist/ when its inputs are unchanged', async () => {
    const inode = () => statSync(join(repositoryRoot, 'dist')).ino;
    const before = inode();
    const { code, stdout, stderr } = await runNode(['scripts/build.mjs', '--if-stale']).ended;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(inode()).toBe(before);
  });
});
