import type { StreamEvent } from '../../protocol/event.ts';
import type { TaskState } from '../../protocol/task.ts';
import { joinTextParts } from './request-capture.ts';
import { formatStreamError, formatEvent } from './format-event.ts';
import { type EventInput, type CollectedEvents, evaluateEvents } from './collect-events.ts';
import { findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { matcherResult, type MatcherResultFor } from './matcher-result.ts';

/**
 * Expected event of a stream:
 *
 * - a state such as `'working'`: a status, or a task, in that state;
 * - `'task'`, `'status'`, `'artifact'`, `'message'`: any event of the kind;
 * - `'...'`: any number of events;
 * - an object: all items fields must match. `error` matches the reason or message of the error that ends a stream.
 */
export type ExpectedEvent =
  | TaskState
  | StreamEvent['kind']
  | '...'
  | { readonly state: TaskState; readonly text?: string | RegExp }
  | {
      /** Name or id of the artifact. */
      readonly artifact: string | RegExp;
      readonly text?: string | RegExp;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    }
  | { readonly message: string | RegExp }
  | { readonly error: string | RegExp };

/** An event, or the error that ended the stream. */
type StreamItem = StreamEvent | Error;

/** Matcher: a stream consists of exactly these events, in this order. */
export function matchStream<Actual extends EventInput>(
  actual: Actual,
  expected: readonly ExpectedEvent[],
): MatcherResultFor<Actual> {
  return evaluateEvents(actual, 'toHaveStreamed', ({ events, error }: CollectedEvents) => {
    const named = withArtifactNames(events);
    const items: StreamItem[] = error ? [...named, error] : named;
    const { distance, lines } = alignEvents(expected, items);
    return matcherResult(distance === 0, {
      failed: () => [
        'Expected the stream to match (- missing, + unexpected):',
        ...lines().map((line) => `  ${line}`),
      ],
      passed: () => [
        'Expected the stream to differ from',
        ...(items.length === 0 ? ['  (no events)'] : items.map((each) => `  ${formatItem(each)}`)),
      ],
    });
  });
}

/** Adds the artifact name to all chunks, because only the first chunk has it. */
function withArtifactNames(events: readonly StreamEvent[]): StreamEvent[] {
  const names = new Map<string, string>();
  return events.map((event) => {
    if (event.kind !== 'artifact') return event;
    const { artifact } = event;
    const name = artifact.name ?? names.get(artifact.artifactId);
    if (name === undefined) return event;
    names.set(artifact.artifactId, name);
    return { ...event, artifact: { ...artifact, name } };
  });
}

/** Aligns expected and actual events by edit distance. */
function alignEvents(
  expected: readonly ExpectedEvent[],
  items: readonly StreamItem[],
): { distance: number; lines: () => string[] } {
  const width = items.length + 1;
  const costs = new Uint32Array((expected.length + 1) * width);
  const cost = (i: number, j: number): number => costs[i * width + j] ?? 0;
  for (let i = expected.length; i >= 0; i--) {
    const expectedEvent = expected[i];
    for (let j = items.length; j >= 0; j--) {
      const each = items[j];
      const penalty = expectedEvent === '...' ? 0 : 1;
      costs[i * width + j] = matchesEvent(expectedEvent, each)
        ? cost(i + 1, j + 1)
        : Math.min(
            expectedEvent === undefined ? Number.POSITIVE_INFINITY : penalty + cost(i + 1, j),
            each === undefined ? Number.POSITIVE_INFINITY : penalty + cost(i, j + 1),
            expectedEvent === undefined && each === undefined ? 0 : Number.POSITIVE_INFINITY,
          );
    }
  }
  const lines = (): string[] => {
    const output: string[] = [];
    for (let i = 0, j = 0; i < expected.length || j < items.length; ) {
      const [expectedEvent, each] = [expected[i], items[j]];
      const penalty = expectedEvent === '...' ? 0 : 1;
      if (each !== undefined && matchesEvent(expectedEvent, each)) {
        output.push(`  ${formatItem(each)}`);
        i++;
        j++;
      } else if (expectedEvent !== undefined && cost(i, j) === penalty + cost(i + 1, j)) {
        if (penalty) output.push(`- ${formatExpectedEvent(expectedEvent)}`);
        i++;
      } else {
        if (each !== undefined) output.push(`${penalty ? '+' : ' '} ${formatItem(each)}`);
        j++;
      }
    }
    return output.length === 0 ? ['(no events)'] : output;
  };
  return { distance: cost(0, 0), lines };
}

function matchesEvent(expected: ExpectedEvent | undefined, item: StreamItem | undefined): boolean {
  if (expected === undefined || item === undefined || expected === '...') return false;
  if (typeof expected === 'object' && 'error' in expected) {
    if (!(item instanceof Error)) return false;
    const reason = 'reason' in item ? item.reason : item.name;
    return [reason, item.message].some((text) => findMismatches(expected.error, text).length === 0);
  }
  if (item instanceof Error) return false;
  if (typeof expected === 'string') return expected === item.kind || expected === statusOf(item)?.state;
  if ('message' in expected) return item.kind === 'message' && matchesText(expected.message, item.message);
  if ('artifact' in expected) {
    if (item.kind !== 'artifact') return false;
    const { artifact, append = false, lastChunk = false } = item;
    const { artifact: name, text, ...flags } = expected;
    return (
      [artifact.name, artifact.artifactId].some((each) => findMismatches(name, each).length === 0) &&
      matchesText(text, artifact) &&
      findMismatches(flags, { append, lastChunk }).length === 0
    );
  }
  const status = statusOf(item);
  return status?.state === expected.state && matchesText(expected.text, status.message ?? { parts: [] });
}

function matchesText(
  expected: string | RegExp | undefined,
  actual: Parameters<typeof joinTextParts>[0],
): boolean {
  return expected === undefined || findMismatches(expected, joinTextParts(actual)).length === 0;
}

function statusOf(event: StreamEvent) {
  return event.kind === 'status' ? event.status : event.kind === 'task' ? event.task.status : undefined;
}

function formatItem(item: StreamItem): string {
  return item instanceof Error ? formatStreamError(item) : formatEvent(item);
}

function formatExpectedEvent(expected: ExpectedEvent): string {
  if (typeof expected === 'string') return expected;
  if ('state' in expected)
    return `${expected.state}${expected.text === undefined ? '' : ` ${formatValue(expected.text)}`}`;
  if ('artifact' in expected) {
    const { artifact, text, append, lastChunk } = expected;
    const flags = formatValue({ append, lastChunk });
    const name = typeof artifact === 'string' ? artifact : formatValue(artifact);
    return `artifact ${name}${text === undefined ? '' : ` ${formatValue(text)}`}${flags === '{}' ? '' : ` ${flags}`}`;
  }
  return 'message' in expected
    ? `message ${formatValue(expected.message)}`
    : `error ${formatValue(expected.error)}`;
}
