import { type Part, textOf } from '../../../protocol/part.ts';
import { calculate } from './arithmetic.ts';
import {
  containmentMismatches,
  type ExpectationMismatch,
  compareValues,
  equalityMismatch,
  regexMismatch,
} from './compare-values.ts';
import type { ExpectedPartContent } from '../files/scenario-schema.ts';

/** What a status can be for: the `type` of its first data part, if it is one of these. */
const purposes = [
  'tool_invocation_start',
  'llm_invocation',
  'llm_response',
  'agent_progress_update',
  'artifact_creation_progress',
  'artifact_saved',
];

/** What a status is for. */
export function statusPurpose(parts: readonly Part[]): string {
  const type = (firstData(parts) as { type?: unknown } | undefined)?.type;
  return typeof type === 'string' && purposes.includes(type) ? type : 'generic_text_update';
}

/** The data of the first part that has any. */
export function firstData(parts: readonly Part[]): unknown {
  for (const part of parts) if ('data' in part) return part.data;
  return undefined;
}

/** The words of a status: its text, or what it says of the progress. */
export function statusText(parts: readonly Part[]): string {
  const data = firstData(parts) as { status_text?: unknown } | undefined;
  if (statusPurpose(parts) === 'agent_progress_update' && typeof data?.status_text === 'string')
    return data.status_text;
  return textOf(parts);
}

/** Compares texts and data with what is expected of them. */
export function contentMismatches(
  expected: readonly ExpectedPartContent[],
  actual: { text: string; data?: unknown },
  path: string,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const at = `${path}[${index}]`;
    return each.type === 'text'
      ? textDifferences(each, actual.text, at)
      : each.data_contains === undefined
        ? []
        : compareValues(each.data_contains, actual.data, `${at}.data_contains`);
  });
}

function textDifferences(
  expected: Extract<ExpectedPartContent, { type: 'text' }>,
  actual: string,
  path: string,
): ExpectationMismatch[] {
  const found: ExpectationMismatch[] = [];
  const { text_exact: exact, text_contains: contains, text_not_contains: unwanted } = expected;
  if (exact !== undefined) found.push(...equalityMismatch(exact, actual, `${path}.text_exact`));
  if (contains !== undefined) {
    const named = [contains].flat().map(workedOut);
    found.push(...containmentMismatches(named, actual, `${path}.text_contains`));
  }
  if (expected.text_matches_regex !== undefined)
    found.push(...regexMismatch(expected.text_matches_regex, actual, `${path}.text_matches_regex`));
  for (const each of [unwanted ?? []].flat()) {
    if (containmentMismatches(each, actual, '').length === 0)
      found.push({
        path: `${path}.text_not_contains`,
        problem: 'contains what it should not',
        expected: each,
        actual,
      });
  }
  return found;
}

/** The text with the results of its sums in their places; what is no sum stays as it is. */
function workedOut(text: string): string {
  return text.replaceAll(/eval_math:\[([^\]]+)\]/g, (whole, sum: string) => calculate(sum) ?? whole);
}
