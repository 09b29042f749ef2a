import { escapeXml } from '../../primitives/formats/escape-xml.ts';
import { type ConformanceReport, type ConformanceResult, variantKey } from './build-report.ts';

/** The report as build servers read it: a suite for each chapter, a case for each rule and place. */
export function junitReport(report: ConformanceReport): string {
  const suites = Object.entries(report.categories).filter(([, results]) => results.length > 0);
  const all = suites.flatMap(([, results]) => results);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(`A2A conformance of ${report.agentName}`)}" ${report.unreachable === undefined ? countsOf(all) : unreachableCounts}>`,
    ...(report.unreachable === undefined ? [] : [unreachableSuite(report.unreachable)]),
    ...suites.map(([name, results]) => suiteOf(name, results, report)),
    '</testsuites>',
    '',
  ].join('\n');
}

const unreachableCounts = 'tests="1" failures="0" errors="1" time="0.000"';

function unreachableSuite(why: string): string {
  return [
    `  <testsuite name="reach" ${unreachableCounts} skipped="0">`,
    `    <testcase name="reach" classname="a2a.reach" time="0.000"><error message="${escapeXml(why)}"/></testcase>`,
    '  </testsuite>',
  ].join('\n');
}

function suiteOf(
  name: string,
  results: readonly ConformanceResult[],
  { agentUrl, testDate, conformanceLevel, provenance }: ConformanceReport,
): string {
  const properties = {
    agentUrl,
    conformanceLevel,
    suite: provenance.suite,
    rulesDigest: provenance.rulesDigest,
  };
  return [
    `  <testsuite name="${name}" ${countsOf(results)} skipped="${skippedOf(results)}" timestamp="${testDate.slice(0, 19)}">`,
    propertiesOf(properties, '    '),
    ...results.map(caseOf),
    '  </testsuite>',
  ].join('\n');
}

/** How many there are of each, and how long they took; the whole of all suites has no attribute for what was skipped. */
function countsOf(results: readonly ConformanceResult[]): string {
  const failed = results.filter(({ status }) => status === 'fail').length;
  const errors = results.filter(({ verdict }) => verdict === 'error').length;
  const time = results.reduce((sum, { duration_ms = 0 }) => sum + duration_ms, 0);
  return `tests="${results.length}" failures="${failed}" errors="${errors}" time="${secondsOf(time)}"`;
}

function skippedOf(results: readonly ConformanceResult[]): number {
  return results.filter(({ status, verdict }) => status === 'skip' && verdict !== 'error').length;
}

function caseOf(result: ConformanceResult): string {
  const { test, category, verdict, status, message = '', duration_ms = 0, level, section } = result;
  const head = `    <testcase name="${escapeXml(`${test} (${variantKey(result)})`)}" classname="a2a.${category}" time="${secondsOf(duration_ms)}">`;
  const inside: string[] = [];
  const told = escapeXml(message);
  if (verdict === 'error') inside.push(`      <error message="${told}"/>`);
  else if (status === 'skip')
    inside.push(`      <skipped message="${escapeXml(`${verdict}: ${message}`)}"/>`);
  else if (status === 'fail')
    inside.push(`      <failure message="${told}" type="${level}">${escapeXml(storyOf(result))}</failure>`);
  // Jenkins takes no properties in a case; these lines are read as such by some and by people.
  const facts = { id: test, level, section, requirements: result.requirements.join(' ') };
  const lines = Object.entries(facts).map(([name, value]) => `[[PROPERTY|${name}=${value}]]`);
  if (verdict === 'warn') lines.push(`warning: ${storyOf(result)}`);
  inside.push(`      <system-out>${escapeXml(lines.join('\n'))}</system-out>`);
  return [head, ...inside, '    </testcase>'].join('\n');
}

function storyOf({ rule, message = '', expected, actual, remediation, curl }: ConformanceResult): string {
  return [
    rule,
    message,
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`got: ${actual}`]),
    `to do: ${remediation}`,
    ...(curl === undefined ? [] : [curl]),
  ].join('\n');
}

function propertiesOf(properties: Readonly<Record<string, string>>, indent: string): string {
  const all = Object.entries(properties).map(
    ([name, value]) => `${indent}  <property name="${name}" value="${escapeXml(value)}"/>`,
  );
  return [`${indent}<properties>`, ...all, `${indent}</properties>`].join('\n');
}

function secondsOf(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}
