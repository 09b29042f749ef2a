import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runNode, repositoryRoot } from './support/cli/run-command.ts';
import { codeBlocksOf } from './support/docs/code-blocks.ts';

const folder = join(repositoryRoot, 'examples/testing');
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

describe('the examples of tests', () => {
  it('pass with vitest', async () => {
    const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
    // One process for all files takes half the time.
    const flags = ['--root', 'examples/testing', '--reporter=json', '--maxWorkers=1', '--no-isolate'];
    const { stdout, stderr, code } = await runNode([vitest, 'run', ...flags]).ended;
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(stdout) as {
      numPassedTests: number;
      numFailedTests: number;
      testResults: unknown[];
    };
    expect([numPassedTests, numFailedTests, testResults.length]).toEqual([8, 0, 5]);
  }, 120_000);

  it('pass with the runner of Node', async () => {
    const { stdout, code } = await runNode(['--test', '--test-reporter=tap', 'examples/testing/plain.js'])
      .ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^# pass 1$/m);
  });

  it('are what the guide shows', () => {
    const shown = codeBlocksOf('docs/guide/testing.md').map(({ code }) => code.trim());
    const files = readdirSync(folder).filter((file) => file.endsWith('.test.js') || file === 'plain.js');
    expect(files).toHaveLength(6);
    for (const file of files) {
      // The guide explains the first line of the file in its text.
      expect(textOf(file), file).toMatch(/^\/\/ /);
      expect(shown, file).toContain(textOf(file).split('\n').slice(1).join('\n').trim());
    }
  });
});
