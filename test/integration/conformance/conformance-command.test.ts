import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedAgent, serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import type { ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import { runDragoman, type CommandResult, repositoryRoot } from '../../support/cli/run-command.ts';
import { startRawServer } from '../../support/http/raw-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-conformance-'));
const file = (name: string): string => join(folder, name);
const few = ['--fixtures', 'fx', '--timeout', '6', '--only', 'send', '--only', 'get', '--a2a-version', '1.0'];
const conformance = (...args: string[]): Promise<CommandResult> =>
  runDragoman(['conformance', ...args], { cwd: folder }).ended;

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
    const ended = await conformance(
      right.url,
      ...few,
      '--report',
      'json=a.json',
      '--report',
      'html',
      '--report',
      'junit',
      '--report-dir',
      'out',
    );
    expect(ended.stderr).toMatch(/^\d+ of \d+ checks$/m);
    expect(ended.stdout).toContain('0 failed');
    expect(ended.code).toBe(0);
    const report = JSON.parse(readFileSync(file('a.json'), 'utf8')) as ConformanceReport;
    expect(report.agentName).toBe('Fixtures');
    expect(report.summary.failed).toBe(0);
    expect(readFileSync(file('out/conformance.html'), 'utf8')).toContain('<!doctype html>');
    expect(readFileSync(file('out/conformance.xml'), 'utf8')).toContain('<testsuites');
  });

  it.each([
    ['', []],
    [' with a token', ['--require-bearer', 's3cret']],
  ])(
    'reports no violation of the demo agent%s',
    async (_what, flags) => {
      const demo = runDragoman(['demo-server', '-o', 'json', ...flags]);
      const [document = ''] = await demo.prints(/^.*\n$/);
      const { url } = JSON.parse(document) as { url: string };
      const known = flags.length === 0 ? [] : ['--header', 'Authorization: Bearer s3cret'];
      const { code, stdout } = await conformance('-a', url, ...known, '--level', 'must', '-o', 'json');
      await demo.stop();
      const { summary } = JSON.parse(stdout) as ConformanceReport;
      expect(summary.failed).toBe(0);
      expect(summary.passed).toBeGreaterThan(100);
      expect(code).toBe(0);
    },
    120_000,
  );

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

  it('treats inconclusive rules as failures with --strict', async () => {
    const some = ['--timeout', '6', '--only', 'send', '--a2a-version', '1.0'];
    expect((await conformance(right.url, ...some)).code).toBe(0);
    expect((await conformance(right.url, ...some, '--strict')).code).toBe(1);
  });

  it('reads prompts from a file and reports its errors with line and column', async () => {
    writeFileSync(file('prompts.yaml'), 'completed: fx:complete\nfailed: { text: fx:fail }\n');
    writeFileSync(file('wrong.yaml'), 'completed: fx:complete\nfinished: x\n');
    const only = [
      '--only',
      'send.terminal-failed',
      '--strict',
      '--transport',
      'rest',
      '--a2a-version',
      '1.0',
    ];
    expect((await conformance(right.url, ...only, '--prompts', 'prompts.yaml')).code).toBe(0);
    const mistaken = await conformance(right.url, ...only, '--prompts', 'wrong.yaml');
    expect(mistaken.stderr).toMatch(/^error: Invalid file: wrong\.yaml\n {2}wrong\.yaml:2:1: /);
    expect(mistaken.code).toBe(2);
  });

  it('rejects an unknown skill and names those of the card', async () => {
    const { stderr, code } = await conformance(right.url, ...few, '--skill', 'fixtures', '--skill', 'nope');
    expect(stderr).toContain('error: Unknown skill: nope');
    expect(stderr).toContain('Use one of fixtures.');
    expect(code).toBe(2);
  });

  it('prints the results to standard output if a report cannot be written', async () => {
    const { stdout, stderr, code } = await conformance(
      right.url,
      ...few,
      '--report',
      'html=no/such/place.html',
    );
    expect(stderr).toContain('error: Cannot write th');
    expect((JSON.parse(stdout) as ConformanceReport).agentName).toBe('Fixtures');
    expect(code).toBe(2);
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

  it.each([
    [[], 'Missing agent'],
    [['http://127.0.0.1:1', '-a', 'localhost'], 'A URL and --agent-card cannot be used together'],
    [['-a', './none.json'], 'File not found: ./none.json'],
    [['-a', join(repositoryRoot, 'package.json')], 'is a card file; this command needs a running agent'],
    [['nowhere'], 'Invalid URL: nowhere'],
    [['http://127.0.0.1:1', '--header', 'x'], 'Invalid header'],
    [['http://127.0.0.1:1', '--report', 'pdf'], 'Unknown report format: pdf'],
    [
      ['http://127.0.0.1:1', '--report', 'html', '--report', 'json'],
      'Only one report can be written to standard output',
    ],
    [['http://127.0.0.1:1', '--baseline', 'none.json'], 'File not found: none.json'],
    [['http://127.0.0.1:1', '--timeout', 'soon'], 'Use a duration such as'],
    [['http://127.0.0.1:1', '--webhook-url', 'here'], 'Invalid --webhook-url: here'],
    [['http://127.0.0.1:1', '--webhook-port', '70000'], 'to 65535'],
    [['http://127.0.0.1:1', '--delegate', 'Ask {url}'], 'Invalid --delegate prompt'],
  ])('rejects the arguments %j with exit code 2', async (args, message) => {
    const { stderr, code } = await conformance(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('tests a pair of agents with --peer and writes an HTML matrix of several', async () => {
    const both = await conformance(
      right.url,
      '--fixtures',
      'fx',
      '--only',
      'send.answers',
      '--peer',
      guarded.url,
      '--peer-header',
      'Authorization: Bearer token-of-ann',
      '-o',
      'json',
    );
    const { categories } = JSON.parse(both.stdout) as ConformanceReport;
    expect(categories.interop.map(({ test, status }) => `${test} ${status}`)).toEqual([
      'interop.discovers pass',
      'interop.language pass',
      'interop.first-to-second pass',
      'interop.second-to-first pass',
      'interop.concurrent pass',
      'interop.first-asks-second skip',
      'interop.second-asks-first skip',
      'interop.concurrent-delegation skip',
    ]);
    expect(both.stdout).not.toContain('token-of-ann');
    const many = await conformance('matrix', right.url, right.url, '--html', 'matrix.html');
    expect(many.stdout.match(/^pass {2}Fixtures → Fixtures$/gm)).toHaveLength(4);
    expect(many.code).toBe(0);
    expect(readFileSync(file('matrix.html'), 'utf8')).toContain('4 of 4');
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
  const doctor = (...args: string[]): Promise<CommandResult> => runDragoman(['doctor', ...args]).ended;

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

  it.each([
    ['no card', (path: string) => [404, 'text/plain', path], /^error +card +HTTP 404/m],
    ['a page instead of a card', () => [200, 'text/html', '<p>'], /^error +card .* is not a JSON object/m],
    [
      'a card without an address',
      () => [200, 'application/json', '{"supportedInterfaces":[]}'],
      /^error +version/m,
    ],
  ] as const)('diagnoses %s', async (_what, answer, pattern) => {
    const server = await startRawServer(({ path }, response) => {
      const [status, type, text] = answer(path) as [number, string, string];
      response.writeHead(status, { 'content-type': type }).end(text);
    });
    const { stdout, code } = await doctor(server.url);
    expect(stdout).toMatch(pattern);
    expect(stdout).toContain('fix ');
    expect(code).toBe(1);
    await server.close();
  });

  it('reports unknown host names and closed ports', async () => {
    expect((await doctor('http://no-such-host.invalid')).stdout).toMatch(/^error +DNS/m);
    expect((await doctor('http://127.0.0.1:9')).stdout).toMatch(/^error +card +no response from/m);
  });
});
