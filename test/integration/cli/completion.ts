import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCompletionScript } from '../../../src/cli/commands/completion/run.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { type CompletionProbe, hasShell } from '../../support/cli/shell-completion.ts';

/** Typed lines with their completions; flags are compared only where a flag is typed. */
const wordCases: [line: string, completions: string[]][] = [
  ['dragoman s', ['send', 'serve', 'store']],
  ['dragoman --vers', ['--version']],
  ['dragoman task push-config ', ['create', 'delete', 'get', 'list']],
  ['dragoman conformance ', ['client', 'diff', 'matrix', 'selftest']],
  ['dragoman completion ', ['bash', 'fish', 'zsh']],
  ['dragoman send --out', ['--output']],
  ['dragoman send --hel', ['--help']],
  ['dragoman send --output ', ['json', 'text']],
  ['dragoman send -o j', ['json']],
  ['dragoman -h send --outp', ['--output']],
  // Words of a message are not commands.
  ['dragoman send list task --time', ['--timeout']],
  ['dragoman send push list --sto', []],
  // Subcommands with the same name have different flags.
  ['dragoman task get --hist', ['--history']],
  ['dragoman task push-config get --hist', []],
];

/** Typed lines that complete to files. */
const fileCases: [line: string, completions: string[]][] = [
  ['dragoman serve age', ['agent.js']],
  ['dragoman send --file rep', ['report.txt']],
  ['dragoman test a', ['agent.js']],
  ['dragoman up --config a', ['agent.js']],
];

/** Tests the completions of all lines in one shell. */
export function describeCompletion(
  name: string,
  shell: 'bash' | 'zsh' | 'fish',
  complete: CompletionProbe,
): void {
  describe(`completion in ${name}`, () => {
    const isInstalled = hasShell(shell);
    const rows = shell === 'bash' ? wordCases : [...wordCases, ...fileCases];
    let completions: string[][];
    let directory: string;

    beforeAll(async () => {
      if (!isInstalled) return;
      directory = mkdtempSync(join(tmpdir(), 'dragoman-completion-'));
      for (const file of ['agent.js', 'report.txt']) writeFileSync(join(directory, file), '');
      const script = formatCompletionScript(await createProgram(['completion']), shell);
      completions = complete(
        script,
        rows.map(([line]) => line),
        directory,
      );
    });
    afterAll(() => {
      if (directory !== undefined) rmSync(directory, { recursive: true });
    });

    it.skipIf(!isInstalled).each(rows.map(([line, expected], index) => [line, expected, index] as const))(
      'completes "%s" to %j',
      (line, expected, index) => {
        const isFlag = / -\S*$/.test(line);
        const found = (completions[index] ?? []).filter((each) => isFlag || !each.startsWith('-'));
        expect([...new Set(found)].toSorted()).toEqual(expected);
      },
    );
  });
}
