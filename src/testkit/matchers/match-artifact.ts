import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Part } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { type Artifact, isTask, type Task } from '../../protocol/task.ts';
import { formatStreamError } from './format-event.ts';
import { type EventInput, evaluateEvents } from './collect-events.ts';
import { type ValueMismatch, formatMismatches, findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { type MatcherResult, matcherResult, type MatcherResultFor } from './matcher-result.ts';

/** What an artifact should hold: text (also of a file), bytes, or the data of its first data part. */
export type ExpectedArtifactContent =
  | string
  | RegExp
  | Uint8Array
  | { readonly [name: string]: unknown }
  | readonly unknown[];

/** Finds whether a task, or the events that tell of it, has an artifact of that name or id. */
export function matchArtifact<Actual extends Task | Message | EventInput>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedArtifactContent,
): MatcherResultFor<Actual> {
  if (typeof actual === 'object' && actual !== null && ('status' in actual || 'parts' in actual))
    return judgeAnswer(actual, name, content) as MatcherResultFor<Actual>;
  return evaluateEvents(actual, 'toProduceArtifact', ({ events, broken }) => {
    const found = judgeAnswer(reduce(events), name, content);
    return broken
      ? {
          pass: found.pass,
          message: () => `${found.message()}\nThe stream broke: ${formatStreamError(broken)}`,
        }
      : found;
  }) as MatcherResultFor<Actual>;
}

function judgeAnswer(
  answer: Task | Message | undefined,
  name: string | RegExp,
  content: ExpectedArtifactContent | undefined,
): MatcherResult {
  const artifacts = answer && isTask(answer) ? (answer.artifacts ?? []) : [];
  const named = artifacts.filter((each) =>
    [each.name, each.artifactId].some((one) => findMismatches(name, one).length === 0),
  );
  const compared = named.map(({ parts }) =>
    content === undefined ? [] : contentDifferences(content, parts),
  );
  const there = artifacts.map((each) => `  ${titleOf(each)}`);
  return matcherResult(
    compared.some(({ length }) => length === 0),
    {
      failed: () => [
        `Expected an artifact ${formatValue(name)}${content === undefined ? '' : ` with ${formatValue(content)}`}`,
        ...(named.length === 0
          ? [there.length === 0 ? 'There is none at all.' : 'There are:', ...there]
          : compared.flatMap((found, index) => [
              `${titleOf(named[index] as Artifact)} is different:`,
              ...formatMismatches(found, '  '),
            ])),
      ],
      passed: () => [
        `Expected no artifact ${formatValue(name)}${content === undefined ? '' : ` with ${formatValue(content)}`}`,
        'There are:',
        ...there,
      ],
    },
  );
}

function contentDifferences(expected: ExpectedArtifactContent, parts: readonly Part[]): ValueMismatch[] {
  if (expected instanceof Uint8Array) {
    const actual = Buffer.concat(parts.flatMap((part) => bytesIn(part) ?? []));
    return actual.equals(expected) ? [] : [{ path: '', expected, actual }];
  }
  if (typeof expected === 'string' || expected instanceof RegExp) {
    const actual = Buffer.concat(parts.flatMap((part) => bytesIn(part) ?? [])).toString('utf8');
    return findMismatches(expected, actual);
  }
  return findMismatches(expected, parts.find((part) => 'data' in part)?.data);
}

function bytesIn(part: Part): Uint8Array | undefined {
  if ('text' in part) return Buffer.from(part.text);
  return 'raw' in part ? bytesOf(part) : undefined;
}

function titleOf({ artifactId, name, parts }: Artifact): string {
  const kinds = parts.map((part) => part.filename ?? part.mediaType ?? Object.keys(part)[0]);
  return `${name ?? artifactId}${name === undefined ? '' : ` (${artifactId})`}: ${kinds.join(', ')}`;
}
