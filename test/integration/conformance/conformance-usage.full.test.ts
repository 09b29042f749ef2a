import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedAgent, serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import type { ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import { runDragoman, type CommandResult, repositoryRoot } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { startRawServer } from '../../support/http/raw-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-conformance-'));
const file = (name: string): string => join(folder, name);
const few = '--fixtures fx --timeout 60 --only send --only get --a2a-version 1.0'.split(' ');
const conformance = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['conformance', ...args], { cwd: folder });

let right: ServedAgent;
let guarded: ServedAgent;

beforeAll(async () => {
  right = await serveMutant();
  guarded = await serveMutant({ requiresAuthentication: true });
});

afterAll(async () => {
  await Promise.all([right, guarded].map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe('dragoman conformance', () => {
  it('reports no violation of the demo agent with a token', async () => {
    const demo = runDragoman(['demo-server', '-o', 'json', '--require-bearer', 's3cret']);
    const [document = ''] = await demo.prints(/^.*\n$/);
    const { url } = JSON.parse(document) as { url: string };
    const known = ['--header', 'Authorization: Bearer s3cret'];
    const { code, stdout } = await conformance('-a', url, ...known, '--level', 'must', '-o', 'json');
    await demo.stop();
    const { summary } = JSON.parse(stdout) as ConformanceReport;
    expect(summary.failed).toBe(0);
    expect(summary.passed).toBeGreaterThan(100);
    expect(code).toBe(0);
  });

  it('treats inconclusive rules as failures with --strict', async () => {
    const some = ['--timeout', '60', '--only', 'send', '--a2a-version', '1.0'];
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
});

describe('dragoman doctor', () => {
  const doctor = (...args: string[]): Promise<CommandResult> => runDragoman(['doctor', ...args]).ended;

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
