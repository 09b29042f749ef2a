import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { writeScenarios } from '../../support/testkit/scenario-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-scenarios-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeScenarios(folder);

const test = (...args: string[]) => runInProcess(['test', ...args], { cwd: folder });

describe('dragoman test', () => {
  it('exits with 2 if there is no case or a file is invalid', async () => {
    const nothing = await test('nowhere/**/*.yaml');
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain('No file found for nowhere/**/*.yaml');
    const odd = await test('odd.yml');
    expect(odd.code).toBe(2);
    expect(odd.stderr).toContain('odd.yml:13:1: surprise: unknown key');
    expect(odd.stdout).toBe('');
    const filtered = await test('right.yaml', '--filter', 'something else');
    expect(filtered.code).toBe(2);
    expect((await test('right.yaml', '--parallel', '0')).code).toBe(2);
    expect((await test('right.yaml', '--harness', 'swing')).code).toBe(2);
    expect((await test('right.yaml', '--broker', 'pigeon://here')).code).toBe(2);
  });

  it('ignores unknown keys with --compatible', async () => {
    expect((await test('odd.yml', '--compatible')).code).toBe(0);
  });

  it('selects cases with --filter and --tag', async () => {
    expect((await test('*.yaml', '--filter', 'right')).stdout).toContain('1 case: 1 passed');
    expect((await test('*.yaml', '--tag', 'right', 'model')).stdout).toContain(
      '2 cases: 1 passed, 0 failed, 1 skipped',
    );
    expect((await test('right.yaml', '--harness', 'direct', '--parallel', '1')).code).toBe(0);
  });
});
