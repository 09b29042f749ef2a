import { type JunitCase, type JunitSuite, writeJunit } from '../../primitives/formats/junit.ts';
import { describeClientRun } from './report-text.ts';
import { type ConformanceReport, type ConformanceResult, variantKey } from './build-report.ts';
import { formatLevel } from './report-text.ts';

/** Writes the report as JUnit XML: a suite per category, a test case per rule and protocol variant. */
export function formatJunitReport(report: ConformanceReport): string {
  const { agentUrl, testDate, conformanceLevel, provenance, unreachable } = report;
  const { suite, rulesDigest } = provenance;
  const suites: JunitSuite[] = Object.entries(report.categories)
    .filter(([, results]) => results.length > 0)
    .map(([name, results]) => ({
      name,
      timestamp: testDate.slice(0, 19),
      properties: { agentUrl, conformanceLevel, suite, rulesDigest },
      cases: results.map(toCase),
    }));
  if (unreachable !== undefined)
    suites.unshift({
      name: 'reachability',
      cases: [
        {
          name: 'reachability',
          classname: 'a2a.reachability',
          milliseconds: 0,
          error: { message: unreachable },
        },
      ],
    });
  return writeJunit(`A2A conformance of ${report.agentName}`, suites);
}

function toCase(result: ConformanceResult): JunitCase {
  const { test, category, verdict, status, message = '', duration_ms = 0, level, section } = result;
  // The schema of Jenkins allows no properties in a test case; some tools read these lines as properties.
  const properties = { id: test, level, section, requirements: result.requirements.join(' ') };
  const lines = Object.entries(properties).map(([name, value]) => `[[PROPERTY|${name}=${value}]]`);
  if (verdict === 'warn') lines.push(`warning: ${describe(result)}`);
  return {
    name: `${test} (${variantKey(result)})`,
    classname: `a2a.${category}`,
    milliseconds: duration_ms,
    ...(verdict === 'error'
      ? { error: { message } }
      : status === 'skip'
        ? { skipped: { message: `${verdict}: ${message}` } }
        : status === 'fail'
          ? { failure: { message, type: formatLevel(result), text: describe(result) } }
          : {}),
    systemOut: lines.join('\n'),
  };
}

function describe({
  rule,
  message = '',
  expected,
  actual,
  remediation,
  curl,
  client,
}: ConformanceResult): string {
  return [
    rule,
    message,
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`actual: ${actual}`]),
    `fix: ${remediation}`,
    ...(curl === undefined ? [] : [curl]),
    ...(client ? [describeClientRun(client)] : []),
  ].join('\n');
}
