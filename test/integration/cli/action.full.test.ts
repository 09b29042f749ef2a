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
const directory = mkdtempSync(join(tmpdir(), 'dragoman-action-'));
const selection = { only: 'send.answers,get.known', fixtures: 'fx' };

/** Runs the step as GitHub does: inputs become variables, the script runs with -e and pipefail, outputs are files. */
async function run(
  values: Record<string, string>,
): Promise<{ code: number; outputs: Record<string, string>; summary: string; log: string }> {
  const workspace = mkdtempSync(join(directory, 'job-'));
  const files = { GITHUB_OUTPUT: join(workspace, 'output'), GITHUB_STEP_SUMMARY: join(workspace, 'summary') };
  for (const file of [...Object.values(files), join(workspace, 'requested')]) writeFileSync(file, '');
  const inputs = Object.entries(action.inputs).map(([name, { default: fallback = '' }]) => [
    name,
    values[name] ?? fallback,
  ]);
  const interpolate = (text: string): string =>
    inputs.reduce((all, [name, value]) => all.replaceAll(`\${{ inputs.${name} }}`, () => value ?? ''), text);
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, value]) => [name, interpolate(value)]),
  );
  const script = join(workspace, 'script.sh');
  writeFileSync(script, step?.run ?? '');
  // A fake npx runs dist/ instead of the published package.
  const npx = join(workspace, 'npx');
  writeFileSync(
    npx,
    `#!/bin/sh\necho "$2" >> requested\nshift 2\nexec "${process.execPath}" "${cliEntry}" "$@"\n`,
  );
  chmodSync(npx, 0o755);
  const { code, log } = await new Promise<{ code: number; log: string }>((resolve) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', script],
      {
        cwd: workspace,
        env: { ...process.env, ...files, ...env, PATH: `${workspace}${delimiter}${process.env['PATH']}` },
      },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, log: `${stdout}${stderr}` }),
    );
  });
  expect(readFileSync(join(workspace, 'requested'), 'utf8')).toBe(`dragoman@${values.version ?? 'latest'}\n`);
  const lines = readFileSync(files.GITHUB_OUTPUT, 'utf8').trim().split('\n').filter(Boolean);
  const outputs = Object.fromEntries(lines.map((line) => line.split('=', 2)));
  const reports = join(workspace, values['report-dir'] ?? 'conformance');
  if (existsSync(reports))
    expect(junitErrors(readFileSync(join(reports, 'conformance.xml'), 'utf8'))).toEqual([]);
  return { code, outputs, summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'), log };
}

let correct: ServedAgent;
let authenticated: ServedAgent;
let wrong: ServedAgent;

beforeAll(async () => {
  correct = await serveMutant();
  authenticated = await serveMutant({ requiresAuthentication: true });
  wrong = await serveMutant({
    wire: () => ({
      response(answer, { operation }) {
        if (operation === 'GetTask') answer.json = { jsonrpc: '2.0', id: 1, result: {} };
      },
    }),
  });
});

afterAll(async () => {
  await Promise.all([correct, authenticated, wrong].map((each) => each.close()));
  rmSync(directory, { recursive: true, force: true });
});

describe('GitHub action', () => {
  it('has one step that sets all outputs', () => {
    expect(action.runs.using).toBe('composite');
    expect(action.runs.steps).toHaveLength(1);
    expect(step?.run).not.toContain('${{');
    for (const [name, { value }] of Object.entries(action.outputs))
      expect(value).toBe(`\${{ steps.${step?.id}.outputs.${name} }}`);
  });

  it('exits with 0 for a conformant agent and sets level and summary', async () => {
    const { code, outputs, summary } = await run({
      url: correct.url,
      ...selection,
      version: '1.2.3',
      'report-dir': 'my reports',
    });
    expect(code).toBe(0);
    expect(outputs).toEqual({ level: 'full', failed: '0' });
    expect(summary).toContain('Fixtures');
  });

  it('exits with 1 for a non-conformant agent and names the rule', async () => {
    const { code, outputs, summary } = await run({ url: wrong.url, ...selection });
    expect(code).toBe(1);
    expect(outputs.level).toBe('non-conformant');
    expect(Number(outputs.failed)).toBeGreaterThan(0);
    expect(summary).toContain('get.known');
  });

  it('passes several headers without printing them', async () => {
    const header = 'X-Trace: one\nAuthorization: Bearer token-of-ann\n';
    const { code, summary, log } = await run({
      url: authenticated.url,
      ...selection,
      only: 'send.answers,authorization.get',
      header,
      'other-user-header': 'Authorization: Bearer token-of-ben',
      strict: 'true',
    });
    expect(code).toBe(0);
    expect(`${summary}${log}`).not.toMatch(/token-of-/);
  });

  it('does not execute shell code in inputs', async () => {
    const { code, log } = await run({ url: '$(touch taken); `touch taken`', ...selection });
    expect(code).toBe(2);
    expect(log).toContain('Invalid URL: $(touch taken)');
  });

  it('exits with 2 and sets no level when the agent is unreachable', async () => {
    const { code, outputs, summary } = await run({
      url: `http://127.0.0.1:${await findFreePort()}`,
      ...selection,
    });
    expect(code).toBe(2);
    expect(outputs.level).toBe('');
    expect(summary).toContain('No response from http://127.0.0.1:');
  });
});
