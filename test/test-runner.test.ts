import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isRunning } from './support/cli/is-running.ts';
import { repositoryRoot, runNode } from './support/cli/run-command.ts';

const scriptUrl = (name: string): string => pathToFileURL(join(repositoryRoot, 'scripts/test', name)).href;
interface Progress {
  print(text: string): void;
  printUnlessLive(text: string): void;
  end(result: string): void;
}
interface Output {
  isTTY: boolean;
  columns: number;
  write(text: string): boolean;
}
const { showProgress } = (await import(scriptUrl('progress.mjs'))) as {
  showProgress: (name: string, status: () => string, options: { output: Output }) => Progress;
};
const script = (steps: string): string[] => [
  '--input-type=module',
  '-e',
  `import { runSteps, vitestStep } from ${JSON.stringify(scriptUrl('run-steps.mjs'))}; await runSteps(${steps});`,
];

describe('runSteps', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-test-runner-'));
    writeFileSync(
      join(folder, 'mixed.test.mjs'),
      `it('passes', () => {});
       it('fails', () => expect(1).toBe(2));
       it.skip('needs something', () => {});`,
    );
    writeFileSync(join(folder, 'broken.test.mjs'), `import './missing.mjs';`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('runs the steps after a failed one, prints their output and exits with 1', async () => {
    const steps = `[
      { name: 'one', command: [process.execPath, '-e', 'console.log("the reason"); process.exit(3)'] },
      { name: 'two', command: [process.execPath, '-e', ''] },
      { name: 'three', command: ['no-such-program'] },
    ]`;
    const { code, stdout } = await runNode(script(steps)).ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^one {6}FAILED in [\d.]+ s$/m);
    expect(stdout).toContain('the reason');
    expect(stdout).toMatch(/^two {6}ok in [\d.]+ s$/m);
    expect(stdout).toMatch(/\nfailed: one\nfailed: three\n0 passed, 2 failed, 0 skipped\n$/);
  });

  it('runs the steps of an array side by side and shows them in order', async () => {
    const first = join(folder, 'first');
    const second = join(folder, 'second');
    /** Creates a file and ends when the other one exists. */
    const meet = (own: string, other: string): string =>
      `const fs = require('node:fs'); fs.writeFileSync(${JSON.stringify(own)}, '');
       const timer = setInterval(() => { if (fs.existsSync(${JSON.stringify(other)})) clearInterval(timer); }, 10);`;
    const step = (name: string, code: string): string =>
      `{ name: '${name}', command: [process.execPath, '-e', ${JSON.stringify(code)}] }`;
    const { code, stdout } = await runNode(
      script(`[[${step('one', meet(first, second))}, ${step('two', meet(second, first))}]]`),
    ).ended;
    expect(stdout).toMatch(/^one {6}ok in [\d.]+ s\ntwo {6}ok in [\d.]+ s\n0 passed, 0 failed, 0 skipped\n$/);
    expect(code).toBe(0);
  });

  it.skipIf(process.platform === 'win32')(
    'ends the processes of all steps when it is terminated',
    async () => {
      const file = join(folder, 'pids');
      const grandchild = `require('node:fs').appendFileSync(${JSON.stringify(file)}, process.pid + ' '); setInterval(() => {}, 1e6)`;
      const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}]); ${grandchild}`;
      const command = `command: [process.execPath, '-e', ${JSON.stringify(child)}]`;
      const running = runNode(script(`[[{ name: 'one', ${command} }, { name: 'two', ${command} }]]`));
      const readPids = () =>
        existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').map(Number) : [];
      await vi.waitUntil(() => readPids().length === 4, { timeout: 60_000 });
      expect((await running.stop()).code).toBe(143);
      await vi.waitUntil(() => !readPids().some(isRunning), { timeout: 60_000 });
    },
  );

  it('prints a line per test file, names failed and skipped tests and counts them', async () => {
    const options = `['--root', ${JSON.stringify(folder)}, '--globals']`;
    const { code, stdout } = await runNode(script(`[vitestStep('tests', ${options})]`)).ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^tests +\d\/2 {2}\S*mixed\.test\.mjs {2}1 passed, 1 FAILED, 1 skipped, [\d.]+ s$/m,
    );
    expect(stdout).toMatch(/^tests +failed: \S*mixed\.test\.mjs: fails: expected 1 to be 2/m);
    expect(stdout).toMatch(/^skipped: \S*mixed\.test\.mjs: needs something$/m);
    expect(stdout).toMatch(/^failed: \S*mixed\.test\.mjs: fails$/m);
    expect(stdout).toMatch(/^failed: \S*broken\.test\.mjs: \(outside of a test\)$/m);
    expect(stdout).toMatch(/\n1 passed, 2 failed, 1 skipped\n$/);
  });

  it('fails a step whose test process exits without a result', async () => {
    const steps = `[{ name: 'tests', command: [process.execPath, '-e', ''], hasTests: true }]`;
    const { code, stdout } = await runNode(script(steps)).ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n0 passed, 1 failed, 0 skipped\n$/);
  });
});

describe('showProgress', () => {
  beforeAll(() => {
    vi.useFakeTimers();
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  const start = (isTTY: boolean) => {
    const written: string[] = [];
    const output = { isTTY, columns: 40, write: (text: string) => written.push(text) > 0 };
    return { written, progress: showProgress('tests', () => '7 passed', { output }) };
  };

  it('prints a line at least every 10 seconds without a terminal', () => {
    const { written, progress } = start(false);
    const silences: number[] = [];
    let last = Date.now();
    for (let elapsed = 0; elapsed < 60_000; elapsed += 100) {
      const before = written.length;
      vi.advanceTimersByTime(100);
      if (written.length === before) continue;
      silences.push(Date.now() - last);
      last = Date.now();
    }
    expect(silences.length).toBeGreaterThanOrEqual(6);
    expect(Math.max(...silences)).toBeLessThanOrEqual(10_000);
    progress.end('ok');
    expect(written[0]).toBe('tests    … 8.0 s, 7 passed\n');
    expect(written.at(-1)).toBe('tests    ok in 1:00 min\n');
  });

  it('rewrites one line on a terminal and keeps printed lines', () => {
    const { written, progress } = start(true);
    vi.advanceTimersByTime(1_000);
    progress.printUnlessLive('hidden');
    progress.print('kept');
    progress.end('ok');
    expect(written).toContain('\r\u001B[Ktests    1.0 s, 7 passed');
    expect(written.join('')).not.toContain('hidden');
    expect(written.slice(-2)).toEqual(['\r\u001B[Ktests    kept\n', '\r\u001B[Ktests    ok in 1.0 s\n']);
  });
});
