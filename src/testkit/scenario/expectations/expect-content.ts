import { type Part, textOf } from '../../../protocol/part.ts';
import { calculate } from './arithmetic.ts';
import { compareValues, containmentMismatches, type ExpectationMismatch } from './compare-values.ts';
import { KeyComparison } from './key-comparison.ts';
import type { ExpectedPartContent } from '../files/scenario-schema.ts';

/** Known purposes of status updates: values of `type` in the first data part. */
const purposes = [
  'tool_invocation_start',
  'llm_invocation',
  'llm_response',
  'agent_progress_update',
  'artifact_creation_progress',
  'artifact_saved',
];

/** Returns the purpose of a status update. */
export function statusPurpose(parts: readonly Part[]): string {
  const type = (firstData(parts) as { type?: unknown } | undefined)?.type;
  return typeof type === 'string' && purposes.includes(type) ? type : 'generic_text_update';
}

/** Returns the data of the first data part. */
export function firstData(parts: readonly Part[]): unknown {
  for (const part of parts) if ('data' in part) return part.data;
  return undefined;
}

/** Returns the text of a status update, or its progress text. */
export function statusText(parts: readonly Part[]): string {
  const data = firstData(parts) as { status_text?: unknown } | undefined;
  if (statusPurpose(parts) === 'agent_progress_update' && typeof data?.status_text === 'string')
    return data.status_text;
  return textOf(parts);
}

/** Compares text and data with their expectations. */
export function contentMismatches(
  expected: readonly ExpectedPartContent[],
  actual: { text: string; data?: unknown },
  path: string,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const at = `${path}[${index}]`;
    return each.type === 'text'
      ? textMismatches(each, actual.text, at)
      : each.data_contains === undefined
        ? []
        : compareValues(each.data_contains, actual.data, `${at}.data_contains`);
  });
}

function textMismatches(
  expected: Extract<ExpectedPartContent, { type: 'text' }>,
  actual: string,
  path: string,
): ExpectationMismatch[] {
  const comparison = new KeyComparison(expected, path)
    .equal('text_exact', actual)
    .compare('text_contains', actual, (texts, ...rest) =>
      containmentMismatches([texts].flat().map(evaluateMath), ...rest),
    )
    .matches('text_matches_regex', actual);
  for (const each of [expected.text_not_contains ?? []].flat())
    if (containmentMismatches(each, actual, '').length === 0)
      comparison.report('text_not_contains', 'contains an excluded value', actual, each);
  return comparison.mismatches;
}

/** Replaces `eval_math:[…]` by its result; invalid expressions are unchanged. */
function evaluateMath(text: string): string {
  return text.replaceAll(
    /eval_math:\[([^[\]]+)\]/g,
    (match, expression: string) => calculate(expression) ?? match,
  );
}
