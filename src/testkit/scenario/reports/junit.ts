import { formatFailure, summarizeResults } from './report.ts';
import type { ScenarioResult } from '../run-scenarios.ts';

/** The results as JUnit has them, one suite for each file. */
export function scenarioJunitReport(results: readonly ScenarioResult[]): string {
  const files = new Map<string, ScenarioResult[]>();
  for (const result of results) {
    const ofFile = files.get(result.scenario.file);
    if (ofFile) ofFile.push(result);
    else files.set(result.scenario.file, [result]);
  }
  const suites = [...files].map(([file, ofFile]) => suiteOf(file, ofFile));
  const head = `<testsuites name="dragoman test" ${countsOf(results)}>`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>', ''].join('\n');
}

function suiteOf(file: string, results: readonly ScenarioResult[]): string {
  const cases = results.map(caseOf);
  return [`  <testsuite name="${escaped(file)}" ${countsOf(results)}>`, ...cases, '  </testsuite>'].join(
    '\n',
  );
}

function countsOf(results: readonly ScenarioResult[]): string {
  const { total, failed, skipped } = summarizeResults(results);
  const seconds = secondsOf(results.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  return `tests="${total}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds}"`;
}

function caseOf(result: ScenarioResult): string {
  const { scenario, outcome, reason = '', mismatches: differences, milliseconds } = result;
  const head = `    <testcase name="${escaped(scenario.id)}" classname="${escaped(scenario.file)}" time="${secondsOf(milliseconds)}"`;
  if (outcome === 'passed') return `${head}/>`;
  if (outcome === 'skipped') return `${head}><skipped message="${escaped(reason)}"/></testcase>`;
  const [first] = differences;
  const message = reason !== '' || !first ? reason : `${first.path}: ${first.problem}`;
  return `${head}><failure message="${escaped(message)}">${escaped(formatFailure(result))}</failure></testcase>`;
}

function secondsOf(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for XML, without the characters that XML cannot have. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
