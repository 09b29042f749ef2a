import { type JunitCase, writeJunit } from '../../../primitives/formats/junit.ts';
import type { ScenarioResult } from '../run-scenarios.ts';
import { formatFailure } from './report.ts';

/** Formats the results as a JUnit report, one suite per file. */
export function scenarioJunitReport(results: readonly ScenarioResult[]): string {
  const files = new Map<string, JunitCase[]>();
  for (const result of results) {
    const { file } = result.scenario;
    const cases = files.get(file) ?? [];
    cases.push(toJunitCase(result));
    files.set(file, cases);
  }
  const suites = [...files].map(([name, cases]) => ({ name, cases }));
  return writeJunit('dragoman test', suites);
}

function toJunitCase(result: ScenarioResult): JunitCase {
  const { scenario, outcome, reason = '', mismatches, milliseconds } = result;
  const base = { name: scenario.id, classname: scenario.file, milliseconds };
  if (outcome === 'passed') return base;
  if (outcome === 'skipped') return { ...base, skipped: { message: reason } };
  const [first] = mismatches;
  const message = reason !== '' || !first ? reason : `${first.path}: ${first.problem}`;
  return { ...base, failure: { message, text: formatFailure(result) } };
}
