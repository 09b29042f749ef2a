import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import { isRunning } from '../../support/cli/is-running.ts';
import { type CommandResult, runDragoman } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-client-conformance-'));
const client = fileURLToPath(new URL('../fixtures/minimal-client.mjs', import.meta.url));
const few = [
  '--only',
  'client-send.once',
  '--only',
  'client-request',
  '--a2a-version',
  '1.0',
  '--timeout',
  '60s',
];
const test = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['conformance', 'client', ...args], { cwd: folder });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('dragoman conformance client', () => {
  it('exits with 0 for a client that does the least, and writes reports', async () => {
    const { code, stdout, stderr } = await test(
      ...few,
      '--report',
      'markdown=report.md',
      '--report',
      'junit=report.xml',
      '--report',
      'html=report.html',
      '-o',
      'json',
      '--',
      process.execPath,
      client,
      '{url}',
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('report written to report.md')]);
    const report = JSON.parse(stdout) as ConformanceReport;
    expect(report).toMatchObject({
      subject: 'client',
      agentName: 'minimal-client.mjs',
      conformanceLevel: 'full',
      variants: [{ version: '1.0', transport: 'JSONRPC' }],
      summary: { failed: 0, warned: 0, inconclusive: 0 },
    });
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    expect(read('report.md')).toContain('# Conformance of minimal-client.mjs\n');
    expect(read('report.xml')).toContain('client-send.once (1.0 JSONRPC)');
    expect(read('report.html')).toContain('The client passes every rule that could be checked.');
  });

  it('exits with 1 for a client that violates a MUST, and says what it did', async () => {
    const { code, stdout } = await test(...few, '--', process.execPath, client, '{url}', '--no-version');
    expect(code).toBe(1);
    expect(stdout).toContain('failed  client-request.version');
    expect(stdout).toContain('send has no A2A-Version');
  });

  it('exits with 2 for a command that sends no message', async () => {
    const { code, stderr } = await test(
      ...few,
      '--',
      process.execPath,
      '-e',
      'process.exitCode = 3',
      '{url}',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('The client sent no message to a correct agent (exit code 3)');
  });

  it('rejects a command without {url} and unknown operations', async () => {
    const [missing, unknown] = await Promise.all([
      test('--', 'true'),
      test('--operations', 'fly', '--', 'x', '{url}'),
    ]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('does not contain {url}')]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('Use a list of send, stream'),
    ]);
  });

  it('ends the executions of the client when it is interrupted', async () => {
    const cwd = join(folder, 'interrupted');
    mkdirSync(cwd);
    // Executions run at the same time, and each creates a file that has its process id as its name.
    const script = 'require("node:fs").writeFileSync(String(process.pid), ""); setInterval(() => {}, 1000)';
    const command = runDragoman(
      ['conformance', 'client', ...few, '--', process.execPath, '-e', script, '{url}'],
      { cwd },
    );
    const readPids = (): number[] => readdirSync(cwd).map(Number);
    await expect.poll(() => readPids().length, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(await command.stop('SIGINT')).toMatchObject({ code: 130, stdout: '', stderr: 'aborted\n' });
    await expect.poll(() => readPids().filter(isRunning), { timeout: 60_000 }).toEqual([]);
  }, 180_000);
});
