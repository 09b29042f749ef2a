import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ServedAgent, serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { cliEntry, repositoryRoot } from '../../support/cli/run-command.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { junitErrors } from '../../support/reports/junit-schema.ts';

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: { id: string; shell: string; run: string; env: Record<string, string> }[] };
}

const action = parse(readFileSync(join(repositoryRoot, 'action.yml'), 'utf8')) as Action;
const [step] = action.runs.steps;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-action-'));
const few = { only: 'send.answers,get.known', fixtures: 'fx' };

/** Runs the step as GitHub does: inputs become variables, the script runs with -e and pipefail, outputs are files. */
async function run(
  given: Record<string, string>,
): Promise<{ code: number; outputs: Record<string, string>; summary: string; said: string }> {
  const place = mkdtempSync(join(folder, 'job-'));
  const files = { GITHUB_OUTPUT: join(place, 'output'), GITHUB_STEP_SUMMARY: join(place, 'summary') };
  for (const file of [...Object.values(files), join(place, 'asked')]) writeFileSync(file, '');
  const inputs = Object.entries(action.inputs).map(([name, { default: usual = '' }]) => [
    name,
    given[name] ?? usual,
  ]);
  const filled = (text: string): string =>
    inputs.reduce((all, [name, value]) => all.replaceAll(`\${{ inputs.${name} }}`, () => value ?? ''), text);
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, value]) => [name, filled(value)]),
  );
  const script = join(place, 'script.sh');
  writeFileSync(script, step?.run ?? '');
  // What the registry would give is what was built here.
  const npx = join(place, 'npx');
  writeFileSync(
    npx,
    `#!/bin/sh\necho "$2" >> asked\nshift 2\nexec "${process.execPath}" "${cliEntry}" "$@"\n`,
  );
  chmodSync(npx, 0o755);
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', script],
      {
        cwd: place,
        env: { ...process.env, ...files, ...env, PATH: `${place}${delimiter}${process.env['PATH']}` },
      },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, said: `${stdout}${stderr}` }),
    );
  });
  expect(readFileSync(join(place, 'asked'), 'utf8')).toBe(`dragoman@${given.version ?? 'latest'}\n`);
  const lines = readFileSync(files.GITHUB_OUTPUT, 'utf8').trim().split('\n').filter(Boolean);
  const outputs = Object.fromEntries(lines.map((line) => line.split('=', 2)));
  const reports = join(place, given.output ?? 'conformance');
  if (existsSync(reports))
    expect(junitErrors(readFileSync(join(reports, 'conformance.xml'), 'utf8'))).toEqual([]);
  return { code, outputs, summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'), said };
}

let right: ServedAgent;
let guarded: ServedAgent;
let wrong: ServedAgent;

beforeAll(async () => {
  right = await serveMutant();
  guarded = await serveMutant({ requiresAuthentication: true });
  wrong = await serveMutant({
    wire: () => ({
      response(answer, { operation }) {
        if (operation === 'GetTask') answer.json = { jsonrpc: '2.0', id: 1, result: {} };
      },
    }),
  });
});

afterAll(async () => {
  await Promise.all([right, guarded, wrong].map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe('the action', () => {
  it('has one step, and outputs that the step gives', () => {
    expect(action.runs.using).toBe('composite');
    expect(action.runs.steps).toHaveLength(1);
    expect(step?.run).not.toContain('${{');
    for (const [name, { value }] of Object.entries(action.outputs))
      expect(value).toBe(`\${{ steps.${step?.id}.outputs.${name} }}`);
  });

  it('is green for an agent that is right, tells the level, and shows the report', async () => {
    const { code, outputs, summary } = await run({
      url: right.url,
      ...few,
      version: '1.2.3',
      output: 'my reports',
    });
    expect(code).toBe(0);
    expect(outputs).toEqual({ level: 'full', failed: '0' });
    expect(summary).toContain('Fixtures');
  });

  it('is red for one that is wrong, and says what', async () => {
    const { code, outputs, summary } = await run({ url: wrong.url, ...few });
    expect(code).toBe(1);
    expect(outputs.level).toBe('non-conformant');
    expect(Number(outputs.failed)).toBeGreaterThan(0);
    expect(summary).toContain('get.known');
  });

  it('gives several headers, and shows none of them', async () => {
    const header = 'X-Trace: one\nAuthorization: Bearer token-of-ann\n';
    const { code, summary, said } = await run({
      url: guarded.url,
      ...few,
      only: 'send.answers,authorization.get',
      header,
      'other-header': 'Authorization: Bearer token-of-ben',
      strict: 'true',
    });
    expect(code).toBe(0);
    expect(`${summary}${said}`).not.toMatch(/token-of-/);
  });

  it('takes inputs for words, whatever is in them', async () => {
    const { code, said } = await run({ url: '$(touch taken); `touch taken`', ...few });
    expect(code).toBe(2);
    expect(said).toContain('is no address');
  });

  it('is red and has no level when nobody is there', async () => {
    const { code, outputs, summary } = await run({ url: `http://127.0.0.1:${await findFreePort()}`, ...few });
    expect(code).toBe(2);
    expect(outputs.level).toBe('');
    expect(summary).toContain('Nobody answers');
  });
});
