import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Part } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { type Artifact, isTask, type Task } from '../../protocol/task.ts';
import { formatStreamError } from './format-event.ts';
import { type EventInput, evaluateEvents } from './collect-events.ts';
import { type ValueMismatch, formatMismatches, findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { type MatcherResult, matcherResult, type MatcherResultFor } from './matcher-result.ts';

/** Expected content of an artifact: text (also of a file), bytes, or the data of its first data part. */
export type ExpectedArtifactContent =
  | string
  | RegExp
  | Uint8Array
  | { readonly [name: string]: unknown }
  | readonly unknown[];

/** Matcher: a task, or the stream of a task, has an artifact with a name or id. */
export function matchArtifact<Actual extends Task | Message | EventInput>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedArtifactContent,
): MatcherResultFor<Actual> {
  if (typeof actual === 'object' && actual !== null && ('status' in actual || 'parts' in actual))
    return matchResult(actual, name, content) as MatcherResultFor<Actual>;
  return evaluateEvents(actual, 'toProduceArtifact', ({ events, error }) => {
    const result = matchResult(reduce(events), name, content);
    if (!error) return result;
    const message = (): string => `${result.message()}\nThe stream failed: ${formatStreamError(error)}`;
    return { pass: result.pass, message };
  }) as MatcherResultFor<Actual>;
}

function matchResult(
  result: Task | Message | undefined,
  name: string | RegExp,
  content: ExpectedArtifactContent | undefined,
): MatcherResult {
  const artifacts = result && isTask(result) ? (result.artifacts ?? []) : [];
  const candidates = artifacts.filter((each) =>
    [each.name, each.artifactId].some((one) => findMismatches(name, one).length === 0),
  );
  const compared = candidates.map(({ parts }) =>
    content === undefined ? [] : contentMismatches(content, parts),
  );
  const existing = artifacts.map((each) => `  ${formatArtifact(each)}`);
  const described = `${formatValue(name)}${content === undefined ? '' : ` with ${formatValue(content)}`}`;
  return matcherResult(
    compared.some(({ length }) => length === 0),
    {
      failed: () => [
        `Expected an artifact ${described}`,
        ...(candidates.length === 0
          ? [existing.length === 0 ? 'There are no artifacts.' : 'Artifacts:', ...existing]
          : compared.flatMap((mismatches, index) => [
              `${formatArtifact(candidates[index] as Artifact)} has different content:`,
              ...formatMismatches(mismatches, '  '),
            ])),
      ],
      passed: () => [`Expected no artifact ${described}`, 'Artifacts:', ...existing],
    },
  );
}

function contentMismatches(expected: ExpectedArtifactContent, parts: readonly Part[]): ValueMismatch[] {
  const actual = Buffer.concat(parts.flatMap((part) => partBytes(part) ?? []));
  if (expected instanceof Uint8Array) return actual.equals(expected) ? [] : [{ path: '', expected, actual }];
  if (typeof expected === 'string' || expected instanceof RegExp)
    return findMismatches(expected, actual.toString('utf8'));
  return findMismatches(expected, parts.find((part) => 'data' in part)?.data);
}

function partBytes(part: Part): Uint8Array | undefined {
  if ('text' in part) return Buffer.from(part.text);
  return 'raw' in part ? bytesOf(part) : undefined;
}

function formatArtifact({ artifactId, name, parts }: Artifact): string {
  const kinds = parts.map((part) => part.filename ?? part.mediaType ?? Object.keys(part)[0]);
  return `${name ?? artifactId}${name === undefined ? '' : ` (${artifactId})`}: ${kinds.join(', ')}`;
}
