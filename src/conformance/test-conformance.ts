import { allChecks } from './checks/index.ts';
import { findSilence } from './discovery/wait-until-reachable.ts';
import { type TogetherOptions, tryTogether } from './interop/test-pair.ts';
import { allInvariants } from './invariants/index.ts';
import { type RunOptions, type RunOutcome, runConformance } from './run-checks.ts';

/** How an agent is examined. */
export interface ExamineOptions extends TogetherOptions {
  /** Another agent, to see whether the two get on. */
  readonly second?: string;
}

/** Examines an agent by every rule: waits until it is awake, runs every check, and tries it with another agent. */
export async function examine(url: string, options: ExamineOptions = {}): Promise<RunOutcome> {
  const { second, timeout = 60_000, headers, insecure } = options;
  const began = new Date();
  const told = { ...(headers ? { headers } : {}), ...(insecure ? { insecure } : {}) };
  const silence = await findSilence(url, { ...told, patience: Math.min(timeout, 10_000) });
  if (silence !== undefined) return unreachable(url, silence, began);
  const run: RunOptions = { checks: allChecks, invariants: allInvariants, warmUp: true, ...options };
  const outcome = await runConformance(url, run);
  if (second === undefined || outcome.unreachable !== undefined) return outcome;
  const together = await tryTogether(url, second, { ...run, ...options });
  return {
    ...outcome,
    results: [...outcome.results, ...together],
    milliseconds: Date.now() - began.getTime(),
  };
}

function unreachable(url: string, why: string, began: Date): RunOutcome {
  return {
    url,
    cards: [],
    lanes: [],
    results: [],
    warnings: [],
    unreachable: why,
    messages: 0,
    requests: 0,
    milliseconds: Date.now() - began.getTime(),
    began: began.toISOString(),
  };
}
