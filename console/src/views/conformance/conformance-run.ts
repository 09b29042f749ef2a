import type { RuleVerdict } from '../../../../src/conformance/rule-model.ts';
import type { ConformanceEvent } from '../../../../src/console/console-api.ts';
import { isVerdict } from './results.ts';

/** Progress of a conformance run. */
export interface ConformanceRun {
  readonly agentName: string;
  readonly done: number;
  readonly total: number;
  readonly counts: { readonly [verdict in RuleVerdict]?: number };
  /** The last evaluated rules, newest first. */
  readonly latest: readonly { readonly rule: string; readonly verdict: RuleVerdict }[];
}

const maxLatest = 6;

/** Adds the result of one rule. */
export function advanceRun(
  before: ConformanceRun,
  { done, total, rule, verdict }: Extract<ConformanceEvent, { kind: 'progress' }>,
): ConformanceRun {
  if (rule === undefined || !isVerdict(verdict)) return { ...before, done, total };
  return {
    ...before,
    done,
    total,
    counts: { ...before.counts, [verdict]: (before.counts[verdict] ?? 0) + 1 },
    latest: [{ rule, verdict }, ...before.latest].slice(0, maxLatest),
  };
}
