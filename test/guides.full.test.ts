import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliEntry, repositoryRoot, RunningCommand } from './support/cli/run-command.ts';
import { type DocCodeBlock, codeBlocksOf, documentationPages, readPage } from './support/docs/code-blocks.ts';
import { findFreePort } from './support/http/free-port.ts';

/** Pages whose commands are all executed; code of other pages is type-checked or run elsewhere. */
const guides = documentationPages().filter((page) => dirname(page) === join('docs', 'getting-started'));

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('skipped: curl is not installed; curl commands of the guides were not run');

/** The file name in the first line of a code block. */
function fileOf({ language, code }: DocCodeBlock): string | undefined {
  return ['js', 'yaml'].includes(language)
    ? /^(?:\/\/|#) ([\w./-]+\.(?:js|yaml))\n/.exec(code)?.[1]
    : undefined;
}

let folder: string;
let background: RunningCommand[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-guide-'));
  background = [];
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  // The layout of npm install: the package and the commands of it and of vitest.
  symlinkSync(repositoryRoot, join(folder, 'node_modules/dragoman'));
  symlinkSync(join(repositoryRoot, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  symlinkSync(cliEntry, join(folder, 'node_modules/.bin/dragoman'));
  symlinkSync(
    join(repositoryRoot, 'node_modules/vitest/vitest.mjs'),
    join(folder, 'node_modules/.bin/vitest'),
  );
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterEach(async () => {
  for (const each of background) await each.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a shell command in the folder of the guide. */
function run(line: string): RunningCommand {
  const command = line.replace(/^npx (\w+)/, 'exec node_modules/.bin/$1').replace(/^node /, 'exec node ');
  return new RunningCommand(spawn('sh', ['-c', command], { cwd: folder }));
}

/** Matches the expected output of a page; … matches anything. */
function pattern(expected: string): RegExp {
  const escaped = expected.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(escaped.replaceAll('…', '[^]*?'));
}

describe('getting-started pages', () => {
  it('exist for each role, have at most 120 lines and are linked', () => {
    expect(guides).toHaveLength(4);
    for (const page of guides) {
      expect(readPage(page).split('\n').length, page).toBeLessThanOrEqual(120);
      expect(readPage('docs/README.md')).toContain(page.replace(/^docs./, ''));
    }
  });

  it.each(guides)(
    '%s runs as written',
    async (page) => {
      const ports = new Map<string, string>();
      for (const port of new Set(readPage(page).match(/\b4[0-2]0[0-9]\b/g)))
        ports.set(port, String(await findFreePort()));
      const placed = (text: string) =>
        text.replaceAll(/\b4[0-2]0[0-9]\b/g, (port) => ports.get(port) ?? port);

      let printed = '';
      for (const fence of codeBlocksOf(page)) {
        const file = fileOf(fence);
        const at = `${page}:${fence.line}`;
        if (file !== undefined) {
          mkdirSync(dirname(join(folder, file)), { recursive: true });
          writeFileSync(join(folder, file), placed(fence.code));
        } else if (fence.language === 'text') {
          expect(printed, at).toMatch(pattern(fence.code));
        } else if (fence.language === 'sh') {
          for (const line of placed(fence.code).trim().split('\n')) {
            if (line.startsWith('npm install ') || (line.startsWith('curl ') && !hasCurl)) continue;
            const running = run(line.replace(/ &$/, ''));
            if (line.endsWith(' &')) {
              background.push(running);
              await Promise.race([running.prints(/listening on/), running.prints(/listening on/, 'stderr')]);
              continue;
            }
            const { code, stdout, stderr } = await running.ended;
            expect(code, `${at}: ${line}\n${stdout}\n${stderr}`).toBe(0);
            printed = stdout;
          }
        }
      }
    },
    120_000,
  );
});
