import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Part } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import { type Artifact, isTask, type Task } from '../../protocol/task.ts';
import { brokenLine } from './format-event.ts';
import { type Events, judged } from './collect-events.ts';
import { type Unlike, unlikeLines, unlikenesses } from './partial-match.ts';
import { shown } from './format-value.ts';
import { type Verdict, verdict, type VerdictOn } from './matcher-result.ts';

/** What an artifact should hold: text (also of a file), bytes, or the data of its first data part. */
export type ExpectedContent =
  | string
  | RegExp
  | Uint8Array
  | { readonly [name: string]: unknown }
  | readonly unknown[];

/** Finds whether a task, or the events that tell of it, has an artifact of that name or id. */
export function producedArtifact<Actual extends Task | Message | Events>(
  actual: Actual,
  name: string | RegExp,
  content?: ExpectedContent,
): VerdictOn<Actual> {
  if (typeof actual === 'object' && actual !== null && ('status' in actual || 'parts' in actual))
    return judgeAnswer(actual, name, content) as VerdictOn<Actual>;
  return judged(actual, 'toProduceArtifact', ({ events, broken }) => {
    const found = judgeAnswer(reduce(events), name, content);
    return broken
      ? { pass: found.pass, message: () => `${found.message()}\nThe stream broke: ${brokenLine(broken)}` }
      : found;
  }) as VerdictOn<Actual>;
}

function judgeAnswer(
  answer: Task | Message | undefined,
  name: string | RegExp,
  content: ExpectedContent | undefined,
): Verdict {
  const artifacts = answer && isTask(answer) ? (answer.artifacts ?? []) : [];
  const named = artifacts.filter((each) =>
    [each.name, each.artifactId].some((one) => unlikenesses(name, one).length === 0),
  );
  const compared = named.map(({ parts }) =>
    content === undefined ? [] : contentDifferences(content, parts),
  );
  const there = artifacts.map((each) => `  ${titleOf(each)}`);
  return verdict(
    compared.some(({ length }) => length === 0),
    {
      failed: () => [
        `Expected an artifact ${shown(name)}${content === undefined ? '' : ` with ${shown(content)}`}`,
        ...(named.length === 0
          ? [there.length === 0 ? 'There is none at all.' : 'There are:', ...there]
          : compared.flatMap((found, index) => [
              `${titleOf(named[index] as Artifact)} is different:`,
              ...unlikeLines(found, '  '),
            ])),
      ],
      passed: () => [
        `Expected no artifact ${shown(name)}${content === undefined ? '' : ` with ${shown(content)}`}`,
        'There are:',
        ...there,
      ],
    },
  );
}

function contentDifferences(expected: ExpectedContent, parts: readonly Part[]): Unlike[] {
  if (expected instanceof Uint8Array) {
    const actual = Buffer.concat(parts.flatMap((part) => bytesIn(part) ?? []));
    return actual.equals(expected) ? [] : [{ path: '', expected, actual }];
  }
  if (typeof expected === 'string' || expected instanceof RegExp) {
    const actual = Buffer.concat(parts.flatMap((part) => bytesIn(part) ?? [])).toString('utf8');
    return unlikenesses(expected, actual);
  }
  return unlikenesses(expected, parts.find((part) => 'data' in part)?.data);
}

function bytesIn(part: Part): Uint8Array | undefined {
  if ('text' in part) return Buffer.from(part.text);
  return 'raw' in part ? bytesOf(part) : undefined;
}

function titleOf({ artifactId, name, parts }: Artifact): string {
  const kinds = parts.map((part) => part.filename ?? part.mediaType ?? Object.keys(part)[0]);
  return `${name ?? artifactId}${name === undefined ? '' : ` (${artifactId})`}: ${kinds.join(', ')}`;
}
