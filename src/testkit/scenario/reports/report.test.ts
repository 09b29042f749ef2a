import { describe, expect, it } from 'vitest';
import { scenarioJunitReport } from './junit.ts';
import { readScenarios } from '../files/read-scenarios.ts';
import {
  formatFailure,
  scenarioJsonReport,
  formatResultLine,
  formatSummaryLine,
  summarizeResults,
} from './report.ts';
import type { ScenarioCapture } from '../harness/harness-types.ts';
import type { ScenarioResult } from '../run-scenarios.ts';

const file = 'some & <other>.yaml';

function scenarioNamed(id: string) {
  const input = { target_agent_name: 'X', parts: [{ text: 'hi' }] };
  const [scenario] = readScenarios(
    JSON.stringify({ test_case_id: id, description: 'Says "hi"', gateway_input: input }),
    file,
  );
  if (!scenario) throw new Error('no case');
  return scenario;
}

const capture: ScenarioCapture = {
  events: [
    { at: 3, type: 'status_update', status: { state: 'working' }, isFinal: false },
    { at: 5, type: 'error', code: -32603, message: 'no\u0000 \uD800<way>' },
  ],
  requests: [
    { at: 2, path: '/a2a', authorization: 'Bearer x', apiKey: undefined, body: { method: 'message/send' } },
  ],
  tokenRequests: [{ at: 1, url: 'https://a/token', body: 'client_id=x&client_secret=very-secret' }],
  cancellation: { sent: false, received: [] },
  files: undefined,
};

const results: ScenarioResult[] = [
  { scenario: scenarioNamed('fine'), outcome: 'passed', mismatches: [], milliseconds: 12 },
  {
    scenario: scenarioNamed('not here'),
    outcome: 'skipped',
    reason: 'no "model"',
    mismatches: [],
    milliseconds: 0,
  },
  {
    scenario: scenarioNamed('wrong'),
    outcome: 'failed',
    mismatches: [
      {
        path: 'expected_gateway_output[0].task_state',
        problem: 'is different',
        expected: 'a\nb',
        actual: 'c',
      },
    ],
    milliseconds: 1_234,
    capture,
  },
];

describe('scenario reports', () => {
  it('count the results by outcome', () => {
    expect(summarizeResults(results)).toEqual({ total: 3, passed: 1, failed: 1, skipped: 1 });
    expect(formatSummaryLine(summarizeResults(results))).toBe('3 cases: 1 passed, 1 failed, 1 skipped');
    expect(results.map((each) => formatResultLine(each))).toEqual([
      'passed  fine (12 ms)',
      'skipped not here: no "model"',
      'failed  wrong some & <other>.yaml:1',
    ]);
  });

  it('formatFailure lists mismatches, events and requests without secrets', () => {
    const text = formatFailure(results[2] as ScenarioResult);
    expect(text.split('\n')).toEqual([
      'failed wrong some & <other>.yaml:1',
      '  Says "hi"',
      '  expected_gateway_output[0].task_state: is different',
      '    - a',
      '    - b',
      '    + "c"',
      '  received events',
      '        3 ms status_update working ""',
      expect.stringContaining('    5 ms error -32603'),
      '  requests to the test agent',
      '        2 ms POST /a2a with Authorization',
      '      {"method":"message/send"}',
      '        1 ms POST https://a/token',
      '      client_id=x&client_secret=…',
    ]);
  });

  it('scenarioJsonReport contains cases and mismatches without secrets', () => {
    const report = JSON.parse(scenarioJsonReport(results)) as {
      summary: unknown;
      cases: { [key: string]: unknown }[];
    };
    expect(report.summary).toEqual({ total: 3, passed: 1, failed: 1, skipped: 1 });
    expect(report.cases.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['fine', 'passed'],
      ['not here', 'skipped'],
      ['wrong', 'failed'],
    ]);
    expect(report.cases[2]).toMatchObject({
      file,
      line: 1,
      mismatches: [{ actual: 'c' }],
      milliseconds: 1234,
    });
    expect(scenarioJsonReport(results)).not.toContain('very-secret');
  });

  it('scenarioJunitReport escapes all content', () => {
    const xml = scenarioJunitReport(results);
    // Only characters that XML allows, and no unescaped markup in text.
    expect(xml).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u);
    const open: string[] = [];
    for (const [, close, name = '', alone] of xml.matchAll(/<(\/?)([a-z]+)(?: [a-z]+="[^"<>]*")*(\/?)>/g)) {
      if (close) expect(open.pop()).toBe(name);
      else if (!alone) open.push(name);
    }
    expect(open).toEqual([]);
    expect(xml.replaceAll(/<\?xml[^>]*>|<\/?[a-z]+(?: [a-z]+="[^"<>]*")*\/?>/g, '')).not.toMatch(/[<>]/);
    expect(xml).not.toMatch(/&(?!amp;|lt;|gt;|quot;|apos;)/);
    expect(xml).toContain('<testsuites name="dragoman test" tests="3" failures="1" errors="0" time="1.246">');
    expect(xml).toContain('<testcase name="fine" classname="some &amp; &lt;other&gt;.yaml" time="0.012"/>');
    expect(xml).toContain('<skipped message="no &quot;model&quot;"/>');
    expect(xml).toContain('<failure message="expected_gateway_output[0].task_state: is different">');
  });
});
