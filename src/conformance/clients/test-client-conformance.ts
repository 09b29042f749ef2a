import type { RunChecksOutcome } from '../run-checks.ts';
import { allClientChecks } from './checks/index.ts';
import type { ClientUnderTest } from './client-under-test.ts';
import { type CommandClientOptions, createCommandClient } from './command-client.ts';
import { createClientInvariants } from './invariants/index.ts';
import { runClientChecks, type RunClientChecksOptions } from './run-client-checks.ts';

/** Options of {@link testClientConformance}. */
export type TestClientConformanceOptions = Omit<RunClientChecksOptions, 'checks' | 'invariants'>;

/**
 * Tests whether a client conforms to A2A: runs it against agents that behave well and badly, and judges its requests and
 * how it ends.
 *
 * @param client - a command with `{url}`, or a function in this process.
 */
export function testClientConformance(
  client: CommandClientOptions | ClientUnderTest,
  options: TestClientConformanceOptions = {},
): Promise<RunChecksOutcome> {
  return runClientChecks('run' in client ? client : createCommandClient(client), {
    checks: allClientChecks,
    invariants: createClientInvariants(),
    ...options,
  });
}
