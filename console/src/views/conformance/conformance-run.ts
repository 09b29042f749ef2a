import type { RuleVerdict } from '../../../../src/conformance/rule-model.ts';
import type { CheckPlace, ConformanceEvent } from '../../../../src/console/console-api.ts';
import { isVerdict } from './results.ts';

/** A check that is running. */
interface RunningCheck extends CheckPlace {
  readonly rule: string;
}

/** A check that has ended. */
type EndedCheck = Extract<ConformanceEvent, { kind: 'checked' }>;

/** Progress of a conformance run. */
export interface ConformanceRun {
  /** Identifies the run. */
  readonly startedAt: number;
  readonly agentName: string;
  /** The rule, if only one is repeated. */
  readonly rule?: string | undefined;
  readonly done: number;
  readonly total: number;
  readonly counts: { readonly [verdict in RuleVerdict]?: number };
  readonly running: readonly RunningCheck[];
  /** Newest first. */
  readonly ended: readonly EndedCheck[];
}

/** Starts the progress of a run. */
export function beginRun({
  startedAt,
  agentName,
  rule,
}: Extract<ConformanceEvent, { kind: 'started' }>): ConformanceRun {
  return { startedAt, agentName, rule, done: 0, total: 0, counts: {}, running: [], ended: [] };
}

/** Adds the start or the result of a check. */
export function advanceRun(
  before: ConformanceRun,
  event: Extract<ConformanceEvent, { kind: 'checking' | 'checked' }>,
): ConformanceRun {
  const running = before.running.filter((each) => !isSameCheck(each, event));
  if (event.kind === 'checking') return { ...before, running: [...running, event] };
  const { done, total, verdict } = event;
  if (!isVerdict(verdict)) return { ...before, done, total, running };
  return {
    ...before,
    done,
    total,
    running,
    counts: { ...before.counts, [verdict]: (before.counts[verdict] ?? 0) + 1 },
    ended: [event, ...before.ended],
  };
}

function isSameCheck(a: RunningCheck, b: RunningCheck): boolean {
  return a.rule === b.rule && a.version === b.version && a.transport === b.transport;
}
