import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { Document } from '../../../src/documents/document.ts';
import { scenarioJsonSchema } from '../../../src/testkit/scenario/files/scenario-schema.ts';
import { runDragoman, repositoryRoot } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import {
  hasMeshScenarios,
  meshScenarioFiles,
  meshScenarioFolder,
} from '../../support/testkit/mesh-scenarios.ts';
import { writeScenarios } from '../../support/testkit/scenario-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-scenarios-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeScenarios(folder);

const test = (...args: string[]) => runInProcess(['test', ...args], { cwd: folder });

describe('dragoman test', () => {
  it('exits with 0 if all cases passed', async () => {
    const { code, stdout, stderr } = await runDragoman(['test', 'right.yaml'], { cwd: folder }).ended;
    expect(stderr).toMatch(/^passed {2}right \(\d+ ms\)\n$/);
    expect(stdout).toBe('1 case: 1 passed, 0 failed, 0 skipped\n');
    expect(code).toBe(0);
  });

  it('exits with 1 and prints differences, output and requests of a failed case', async () => {
    const { code, stdout } = await test('*.yaml');
    expect(code).toBe(1);
    expect(stdout).toContain('skipped model: it needs a language model (llm_interactions)');
    expect(stdout).toContain('failed wrong wrong.yaml:1');
    expect(stdout).toContain('  expected_gateway_output[0].content_parts[0].text_exact: is different');
    expect(stdout).toContain('    - "Ho"\n    + "Hi"');
    expect(stdout).toMatch(/received events\n +\d+ ms final_response completed "Hi"/);
    expect(stdout).toMatch(/requests to the test agent\n +\d+ ms POST \/a2a\n +\{"jsonrpc"/);
    expect(stdout).toMatch(/3 cases: 1 passed, 1 failed, 1 skipped\n$/);
  });

  it('runs the other files and exits with 1 if one file is invalid', async () => {
    const { code, stdout } = await test('.', '--filter', 'right');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'failed ./odd.yml ./odd.yml:13\n  The file is invalid:\n  ./odd.yml:13:1: surprise: unknown key',
    );
    expect(stdout).toMatch(/2 cases: 1 passed, 1 failed, 0 skipped\n$/);
  });

  it('writes JUnit and JSON reports', async () => {
    const { code, stdout, stderr } = await test('*.yaml', '--report', 'json');
    expect(code).toBe(1);
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as { summary: object; cases: { id: string; outcome: string }[] };
    expect(report.summary).toEqual({ total: 3, passed: 1, failed: 1, skipped: 1 });
    expect(report.cases.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      'model skipped',
      'right passed',
      'wrong failed',
    ]);
    const file = join(folder, 'results.xml');
    const junit = await test('*.yaml', '--report', 'junit', '--report-file', file);
    expect(junit.stdout).toBe('');
    expect(readFileSync(file, 'utf8')).toContain('<testsuites name="dragoman test" tests="3" failures="1"');
  });

  it.skipIf(!hasMeshScenarios)('runs the files of Solace Agent Mesh', async () => {
    const files = meshScenarioFiles.map((file) => join(meshScenarioFolder, file));
    const { code, stdout } = await test(...files, '--compatible');
    expect(stdout).toBe('12 cases: 12 passed, 0 failed, 0 skipped\n');
    expect(code).toBe(0);
  });
});

describe('example scenarios', () => {
  const examples = join(repositoryRoot, 'examples/scenarios');
  const files = readdirSync(examples);
  const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(scenarioJsonSchema());

  it('pass', async () => {
    const { code, stdout } = await runInProcess(['test', 'examples/scenarios']);
    expect(stdout).toBe(`${files.length + 1} cases: ${files.length + 1} passed, 0 failed, 0 skipped\n`);
    expect(code).toBe(0);
  });

  it.each(files)('%s refers to its schema and is valid', (file) => {
    const text = readFileSync(join(examples, file), 'utf8');
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\.\/\.\.\/schemas\/scenario\.schema\.json\n# /);
    expect(fits(Document.parse(text, file).value), JSON.stringify(fits.errors)).toBe(true);
  });
});
