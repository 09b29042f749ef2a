import type { StreamEvent } from '../../protocol/event.ts';
import type { TaskState } from '../../protocol/task.ts';
import { joinTextParts } from './request-capture.ts';
import { formatStreamError, formatEvent } from './format-event.ts';
import { type EventInput, type CollectedEvents, evaluateEvents } from './collect-events.ts';
import { findMismatches } from './partial-match.ts';
import { formatValue } from './format-value.ts';
import { matcherResult, type MatcherResultFor } from './matcher-result.ts';

/**
 * What is essential about an event of a stream.
 *
 * - a state such as `'working'`: a status, or a task, in that state;
 * - `'task'`, `'status'`, `'artifact'`, `'message'`: any event of the kind;
 * - `'...'`: any number of events;
 * - an object: what is given must hold. `error` is for a stream that breaks, and looks at its reason or its words.
 */
export type ExpectedEvent =
  | TaskState
  | StreamEvent['kind']
  | '...'
  | { readonly state: TaskState; readonly text?: string | RegExp }
  | {
      /** The name of the artifact, or its id. */
      readonly artifact: string | RegExp;
      readonly text?: string | RegExp;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    }
  | { readonly message: string | RegExp }
  | { readonly error: string | RegExp };

/** What a stream gave: events and, perhaps, what broke it. */
type Given = StreamEvent | Error;

/** Finds whether a stream consists of these events, in this order, and of no others. */
export function matchStream<Actual extends EventInput>(
  actual: Actual,
  expected: readonly ExpectedEvent[],
): MatcherResultFor<Actual> {
  return evaluateEvents(actual, 'toHaveStreamed', ({ events, broken }: CollectedEvents) => {
    const told = named(events);
    const given: Given[] = broken ? [...told, broken] : told;
    const { distance, lines } = aligned(expected, given);
    return matcherResult(distance === 0, {
      failed: () => [
        'Expected the stream to be as described (- missing, + not expected):',
        ...lines().map((line) => `  ${line}`),
      ],
      passed: () => [
        'Expected the stream to be another than',
        ...(given.length === 0 ? ['  nothing'] : given.map((each) => `  ${lineOf(each)}`)),
      ],
    });
  });
}

/** Events whose chunks have the name of their artifact, which only the first has to say. */
function named(events: readonly StreamEvent[]): StreamEvent[] {
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

/** How far what was given is from what was expected, and both beside each other. */
function aligned(
  gists: readonly ExpectedEvent[],
  given: readonly Given[],
): { distance: number; lines: () => string[] } {
  const width = given.length + 1;
  const costs = new Uint32Array((gists.length + 1) * width);
  const cost = (i: number, j: number): number => costs[i * width + j] ?? 0;
  for (let i = gists.length; i >= 0; i--) {
    const gist = gists[i];
    for (let j = given.length; j >= 0; j--) {
      const each = given[j];
      const free = gist === '...' ? 0 : 1;
      costs[i * width + j] =
        gist !== undefined && each !== undefined && gist !== '...' && isLike(gist, each)
          ? cost(i + 1, j + 1)
          : Math.min(
              gist === undefined ? Number.POSITIVE_INFINITY : free + cost(i + 1, j),
              each === undefined ? Number.POSITIVE_INFINITY : free + cost(i, j + 1),
              gist === undefined && each === undefined ? 0 : Number.POSITIVE_INFINITY,
            );
    }
  }
  const lines = (): string[] => {
    const made: string[] = [];
    for (let i = 0, j = 0; i < gists.length || j < given.length; ) {
      const [gist, each] = [gists[i], given[j]];
      const free = gist === '...' ? 0 : 1;
      if (gist !== undefined && each !== undefined && gist !== '...' && isLike(gist, each)) {
        made.push(`  ${lineOf(each)}`);
        i++;
        j++;
      } else if (gist !== undefined && cost(i, j) === free + cost(i + 1, j)) {
        if (free) made.push(`- ${gistLine(gist)}`);
        i++;
      } else {
        if (each !== undefined) made.push(`${free ? '+' : ' '} ${lineOf(each)}`);
        j++;
      }
    }
    return made.length === 0 ? ['nothing'] : made;
  };
  return { distance: cost(0, 0), lines };
}

function isLike(gist: ExpectedEvent, given: Given): boolean {
  if (typeof gist === 'object' && 'error' in gist) {
    if (!(given instanceof Error)) return false;
    const reason = 'reason' in given ? given.reason : given.name;
    return [reason, given.message].some((word) => findMismatches(gist.error, word).length === 0);
  }
  if (given instanceof Error) return false;
  if (typeof gist === 'string') return gist === given.kind || gist === stateOf(given)?.state;
  if ('message' in gist)
    return (
      given.kind === 'message' && findMismatches(gist.message, joinTextParts(given.message)).length === 0
    );
  if ('artifact' in gist) {
    if (given.kind !== 'artifact') return false;
    const { artifact, append = false, lastChunk = false } = given;
    const { artifact: name, text, ...flags } = gist;
    return (
      [artifact.name, artifact.artifactId].some((each) => findMismatches(name, each).length === 0) &&
      (text === undefined || findMismatches(text, joinTextParts(artifact)).length === 0) &&
      findMismatches(flags, { append, lastChunk }).length === 0
    );
  }
  const status = stateOf(given);
  if (status?.state !== gist.state) return false;
  return (
    gist.text === undefined ||
    findMismatches(gist.text, joinTextParts(status.message ?? { parts: [] })).length === 0
  );
}

function stateOf(event: StreamEvent) {
  return event.kind === 'status' ? event.status : event.kind === 'task' ? event.task.status : undefined;
}

function lineOf(given: Given): string {
  return given instanceof Error ? formatStreamError(given) : formatEvent(given);
}

function gistLine(gist: ExpectedEvent): string {
  if (typeof gist === 'string') return gist;
  if ('state' in gist) return `${gist.state}${gist.text === undefined ? '' : ` ${formatValue(gist.text)}`}`;
  if ('artifact' in gist) {
    const { artifact, text, append, lastChunk } = gist;
    const flags = formatValue({ append, lastChunk });
    const name = typeof artifact === 'string' ? artifact : formatValue(artifact);
    return `artifact ${name}${text === undefined ? '' : ` ${formatValue(text)}`}${flags === '{}' ? '' : ` ${flags}`}`;
  }
  return 'message' in gist ? `message ${formatValue(gist.message)}` : `error ${formatValue(gist.error)}`;
}
