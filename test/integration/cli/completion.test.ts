import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCompletionScript } from '../../../src/cli/commands/completion/run.ts';
import { createProgram } from '../../../src/cli/program.ts';
import {
  type CompletionProbe,
  hasShell,
  completeInBash,
  completeInFish,
  completeInZsh,
} from '../../support/cli/shell-completion.ts';

/** A line as it was typed so far, and what can come; flags are looked at where one is typed. */
const offered: [line: string, offers: string[]][] = [
  ['dragoman s', ['send', 'serve']],
  ['dragoman --vers', ['--version']],
  ['dragoman task push-config ', ['create', 'delete', 'get', 'list']],
  ['dragoman conformance ', ['diff', 'matrix', 'selftest']],
  ['dragoman completion ', ['bash', 'fish', 'zsh']],
  ['dragoman send --out', ['--output']],
  ['dragoman send --hel', ['--help']],
  ['dragoman send --output ', ['json', 'text']],
  ['dragoman send -o j', ['json']],
  ['dragoman -h send --outp', ['--output']],
  // Words of a message are no commands, whatever they are.
  ['dragoman send list task --time', ['--timeout']],
  ['dragoman send push list --sto', []],
  // A command below another has a name that another has too.
  ['dragoman task get --hist', ['--history']],
  ['dragoman task push-config get --hist', []],
];

/** Where files are meant, these are. */
const files: [line: string, offers: string[]][] = [
  ['dragoman serve age', ['agent.js']],
  ['dragoman send --file rep', ['report.txt']],
  ['dragoman test a', ['agent.js']],
  ['dragoman up --config a', ['agent.js']],
];

const shells: [name: string, shell: 'bash' | 'zsh' | 'fish', asked: CompletionProbe][] = [
  ['bash', 'bash', completeInBash],
  ['zsh, among its functions', 'zsh', completeInZsh('fpath')],
  ['zsh, sourced', 'zsh', completeInZsh('source')],
  ['fish', 'fish', completeInFish],
];

describe.each(shells)('completion in %s', (_name, shell, asked) => {
  const isHere = hasShell(shell);
  const rows = shell === 'bash' ? offered : [...offered, ...files];
  let told: string[][];
  let folder: string;

  beforeAll(async () => {
    if (!isHere) return;
    folder = mkdtempSync(join(tmpdir(), 'dragoman-completion-'));
    for (const file of ['agent.js', 'report.txt']) writeFileSync(join(folder, file), '');
    const script = formatCompletionScript(await createProgram(['completion']), shell);
    told = asked(
      script,
      rows.map(([line]) => line),
      folder,
    );
  });
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });

  it.skipIf(!isHere).each(rows.map(([line, offers], at) => [line, offers, at] as const))(
    'offers after "%s": %j',
    (line, offers, at) => {
      const isFlag = / -\S*$/.test(line);
      const found = (told[at] ?? []).filter((each) => isFlag || !each.startsWith('-'));
      expect([...new Set(found)].toSorted()).toEqual(offers);
    },
  );
});
