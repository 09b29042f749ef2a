import { allChecks } from './checks/index.ts';
import { waitUntilReachable } from './discovery/wait-until-reachable.ts';
import { type TestPairOptions, testPair } from './interop/test-pair.ts';
import { allInvariants } from './invariants/index.ts';
import { type RunChecksOptions, type RunChecksOutcome, runChecks } from './run-checks.ts';

/** Options of {@link testConformance}. All options are optional. */
export interface TestConformanceOptions extends TestPairOptions {
  /** URL of another agent, to test the interoperability of the two. */
  readonly peer?: string;
}

/** Tests an agent against every rule: waits until it is reachable, runs all checks, and tests it with a peer if configured. */
export async function testConformance(
  url: string,
  options: TestConformanceOptions = {},
): Promise<RunChecksOutcome> {
  const { peer: second, timeout = 60_000, headers, insecure } = options;
  const startedAt = new Date();
  const access = { ...(headers ? { headers } : {}), ...(insecure ? { insecure } : {}) };
  const unreachableReason = await waitUntilReachable(url, { ...access, timeout: Math.min(timeout, 10_000) });
  if (unreachableReason !== undefined) return unreachable(url, unreachableReason, startedAt);
  const run: RunChecksOptions = { checks: allChecks, invariants: allInvariants, warmUp: true, ...options };
  const outcome = await runChecks(url, run);
  if (second === undefined || outcome.unreachable !== undefined) return outcome;
  const pairResults = await testPair(url, second, { ...run, ...options });
  return {
    ...outcome,
    results: [...outcome.results, ...pairResults],
    milliseconds: Date.now() - startedAt.getTime(),
  };
}

function unreachable(url: string, reason: string, startedAt: Date): RunChecksOutcome {
  return {
    url,
    cards: [],
    variants: [],
    results: [],
    warnings: [],
    unreachable: reason,
    messages: 0,
    requests: 0,
    milliseconds: Date.now() - startedAt.getTime(),
    startedAt: startedAt.toISOString(),
  };
}
