import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedAgent, serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import type { ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import { runDragoman, type CommandResult } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { startRawServer } from '../../support/http/raw-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-conformance-'));
const file = (name: string): string => join(folder, name);
const few = '--fixtures fx --timeout 60 --only send --only get --a2a-version 1.0'.split(' ');
const conformance = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['conformance', ...args], { cwd: folder });

let right: ServedAgent;
let wrong: ServedAgent;
let guarded: ServedAgent;

beforeAll(async () => {
  right = await serveMutant();
  wrong = await serveMutant({
    wire: () => ({
      response(answer, { operation }) {
        if (operation === 'GetTask' && answer.json !== undefined)
          answer.json = { jsonrpc: '2.0', id: 1, result: {} };
      },
    }),
  });
  guarded = await serveMutant({ requiresAuthentication: true });
});

afterAll(async () => {
  await Promise.all([right, wrong, guarded].map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe('dragoman conformance', () => {
  it('exits with 0 for a conformant agent and writes every requested report', async () => {
    const reports = '--report json=a.json --report html --report junit --report-dir out'.split(' ');
    const ended = await runDragoman(['conformance', right.url, ...few, ...reports], { cwd: folder }).ended;
    expect(ended.stderr).toMatch(/^\d+ of \d+ checks$/m);
    expect(ended.stdout).toContain('0 failed');
    expect(ended.code).toBe(0);
    const report = JSON.parse(readFileSync(file('a.json'), 'utf8')) as ConformanceReport;
    expect(report.agentName).toBe('Fixtures');
    expect(report.summary.failed).toBe(0);
    expect(readFileSync(file('out/conformance.html'), 'utf8')).toContain('<!doctype html>');
    expect(readFileSync(file('out/conformance.xml'), 'utf8')).toContain('<testsuites');
  });

  it('reports no violation of the demo agent', async () => {
    const demo = runDragoman(['demo-server', '-o', 'json']);
    const [document = ''] = await demo.prints(/^.*\n$/);
    const { url } = JSON.parse(document) as { url: string };
    const { code, stdout } = await conformance('-a', url, '--level', 'must', '-o', 'json');
    await demo.stop();
    const { summary } = JSON.parse(stdout) as ConformanceReport;
    expect(summary.failed).toBe(0);
    expect(summary.passed).toBeGreaterThan(100);
    expect(code).toBe(0);
  });

  it('exits with 1 and prints the fix for a violation, unless the baseline contains it', async () => {
    const first = await conformance(
      wrong.url,
      ...few,
      '--transport',
      'jsonrpc',
      '--report',
      'json=wrong.json',
    );
    expect(first.code).toBe(1);
    expect(first.stdout).toMatch(/^failed {2}get\.known/m);
    expect(first.stdout).toContain('fix:');
    expect(first.stdout).toContain('curl -sS');
    const again = await conformance(wrong.url, ...few, '--transport', 'jsonrpc', '--baseline', 'wrong.json');
    expect(again.stderr).toContain('0 regressions');
    expect(again.code).toBe(0);
    const changed = await conformance('diff', 'a.json', 'wrong.json');
    expect(changed.stdout).toMatch(/^regression {2}get\.known/m);
    expect(changed.code).toBe(1);
  });

  it('prints the report as JSON without credentials (-o json)', async () => {
    const header = ['--header', 'Authorization: Bearer token-of-ann'];
    const { stdout, stderr, code } = await conformance(guarded.url, ...few, ...header, '-o', 'json');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as ConformanceReport).conformanceLevel).toBe('full');
    expect(stdout).not.toContain('token-of-ann');
  });

  it('exits with 2 and writes the report if the agent is unreachable', async () => {
    const gone = await startRawServer(() => undefined);
    await gone.close();
    const { stdout, code } = await conformance(gone.url, '--timeout', '0.5', '--report', 'json=gone.json');
    expect(stdout).toContain('No verdict');
    expect(code).toBe(2);
    expect((JSON.parse(readFileSync(file('gone.json'), 'utf8')) as ConformanceReport).unreachable).toContain(
      'No response from',
    );
  });

  it('kills all selected mutants in the self-test', async () => {
    const { stdout, code } = await conformance('selftest', '--only', 'output', '-o', 'json');
    const { total } = JSON.parse(stdout) as { total: object };
    // The mutant exists over gRPC as well.
    expect(total).toMatchObject({ rules: 1, mutants: 2, killed: 2, survived: 0, falsePositives: 0 });
    expect(code).toBe(0);
  });
});

describe('dragoman doctor', () => {
  const doctor = (...args: string[]): Promise<CommandResult> => runInProcess(['doctor', ...args]);

  it('reports all steps as ok for a working agent', async () => {
    const { stdout, code } = await doctor(right.url);
    expect(stdout).toMatch(/^ok +stream/m);
    expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(10);
    expect(code).toBe(0);
  });

  it('reports missing credentials and uses those of --header', async () => {
    const without = await doctor(guarded.url);
    expect(without.stdout).toMatch(/^error +auth +HTTP 401/m);
    expect(without.stdout).toContain('--header');
    expect(without.code).toBe(1);
    expect((await doctor(guarded.url, '--header', 'Authorization: Bearer token-of-ann')).code).toBe(0);
  });
});
