import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readScenarios } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { formatFailure } from '../../../src/testkit/scenario/reports/report.ts';
import { openHarness } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios, type ScenarioResult } from '../../../src/testkit/scenario/run-scenarios.ts';
import {
  hasMeshScenarios,
  meshScenarioFiles,
  meshScenarioFolder,
} from '../../support/testkit/mesh-scenarios.ts';

const seed = fileURLToPath(new URL('../../../../shared/seeds/000_ad2cd198e3e51795.txt', import.meta.url));
if (!existsSync(seed)) process.stdout.write('skipped: the design is not beside this checkout\n');

function scenariosOf(file: string) {
  return readScenarios(readFileSync(`${meshScenarioFolder}/${file}`, 'utf8'), file, 'compatible');
}

function failuresOf(results: readonly ScenarioResult[]): string[] {
  return results.filter(({ outcome }) => outcome !== 'passed').map((each) => formatFailure(each));
}

describe.skipIf(!hasMeshScenarios)('Solace Agent Mesh scenario files', () => {
  const fromDesign = 'test_a2a_proxy_simple.design-era-7e63cf12b.yaml';

  it('pass unchanged', async () => {
    const results = await runScenarios(meshScenarioFiles.flatMap(scenariosOf), {
      openHarness: () => openHarness(),
    });
    expect(failuresOf(results)).toEqual([]);
  });

  it('fail with a message if the embedded JSON is malformed', async () => {
    const text = readFileSync(`${meshScenarioFolder}/${fromDesign}`, 'utf8');
    const [result] = await runScenarios(readScenarios(text, fromDesign), {
      openHarness: () => openHarness(),
    });
    expect(result?.outcome).toBe('failed');
    expect(result?.mismatches[0]).toMatchObject({
      path: 'expected_gateway_output[0].task_state',
      problem: expect.stringMatching(/Invalid \[responses_json\] directive: .*JSON/) as string,
      expected: 'completed',
      actual: 'failed',
    });
  });

  it('fail with a message if a key is at a position that the original runner ignores', async () => {
    const [result] = await runScenarios(scenariosOf(fromDesign), { openHarness: () => openHarness() });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('prompt is ignored in the compatible mode') as string,
    });
  });
});

describe.skipIf(!existsSync(seed))('scenario of the design document', () => {
  /** The example with the JSON of its comment in the place that is left for it. */
  function example(): string {
    const text = readFileSync(seed, 'utf8').split('## 6.')[1] ?? '';
    const yaml = /```yaml\n([^]*?)```/.exec(text)?.[1] ?? '';
    const json = [...yaml.matchAll(/^# ( *[[\]{}"].*)$/gm)].map(([, line]) => line).join('\n');
    JSON.parse(json);
    return yaml.replace('BASE64_ENCODED_JSON_OF_THE_SCHEMA_BELOW', Buffer.from(json).toString('base64'));
  }

  const run = (text: string) =>
    runScenarios(readScenarios(text, 'design.yaml'), { openHarness: () => openHarness() });

  it('passes unchanged', async () => {
    expect(example()).toContain('version: 1 #');
    expect(failuresOf(await run(example()))).toEqual([]);
  });

  it.each([
    ['Proxy test successful!', 'Another text', 'expected_artifacts[0].text_exact'],
    ['version: 1 #', 'version: 2 #', 'expected_artifacts[0]'],
    ['mime_type: "text/plain"', 'mime_type: "text/csv"', 'expected_artifacts[0].mime_type'],
    [
      'assert_part_is_uri_reference: true',
      'assert_part_is_uri_reference: false',
      'expected_gateway_output[1].assert_part_is_uri_reference',
    ],
    [
      'text_contains: "Done."',
      'text_contains: "Over."',
      'expected_gateway_output[2].content_parts[0].text_contains',
    ],
    ['generic_text_update', 'agent_progress_update', 'expected_gateway_output[0].event_purpose'],
  ])('fails if %j is replaced by %j', async (from, to, path) => {
    const [result] = await run(example().replace(from, to));
    expect(result?.mismatches.map((each) => each.path)).toEqual([path]);
  });
});
