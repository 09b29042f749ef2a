import type { RunChecksOutcome } from '../../../src/conformance/run-checks.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';

/**
 * Tests an agent whose first response arrives, with a short timeout, because the agent may leave other requests without one.
 * On a slow machine the first response may be late as well; then the agent is tested with a longer timeout.
 */
export async function testReachableAgent(url: string): Promise<RunChecksOutcome> {
  const maxTime = 4_000;
  let outcome = await testConformance(url, { timeout: 500, maxTime });
  for (const timeout of [2_000, 8_000]) {
    if (outcome.unreachable === undefined) break;
    outcome = await testConformance(url, { timeout, maxTime });
  }
  return outcome;
}
