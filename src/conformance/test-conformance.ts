import { allChecks } from './checks/index.ts';
import { waitUntilReachable } from './discovery/wait-until-reachable.ts';
import { type TestPairOptions, testPair } from './interop/test-pair.ts';
import { allInvariants } from './invariants/index.ts';
import { type RunChecksOptions, type RunChecksOutcome, runChecks } from './run-checks.ts';

/** How an agent is examined. */
export interface TestConformanceOptions extends TestPairOptions {
  /** Another agent, to see whether the two get on. */
  readonly peer?: string;
}

/** Examines an agent by every rule: waits until it is awake, runs every check, and tries it with another agent. */
export async function testConformance(
  url: string,
  options: TestConformanceOptions = {},
): Promise<RunChecksOutcome> {
  const { peer: second, timeout = 60_000, headers, insecure } = options;
  const began = new Date();
  const told = { ...(headers ? { headers } : {}), ...(insecure ? { insecure } : {}) };
  const silence = await waitUntilReachable(url, { ...told, timeout: Math.min(timeout, 10_000) });
  if (silence !== undefined) return unreachable(url, silence, began);
  const run: RunChecksOptions = { checks: allChecks, invariants: allInvariants, warmUp: true, ...options };
  const outcome = await runChecks(url, run);
  if (second === undefined || outcome.unreachable !== undefined) return outcome;
  const together = await testPair(url, second, { ...run, ...options });
  return {
    ...outcome,
    results: [...outcome.results, ...together],
    milliseconds: Date.now() - began.getTime(),
  };
}

function unreachable(url: string, why: string, began: Date): RunChecksOutcome {
  return {
    url,
    cards: [],
    variants: [],
    results: [],
    warnings: [],
    unreachable: why,
    messages: 0,
    requests: 0,
    milliseconds: Date.now() - began.getTime(),
    began: began.toISOString(),
  };
}
