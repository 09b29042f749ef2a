/**
 * Matchers and fixtures for vitest. Importing it extends `expect`.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { withTestAgent } from './with-test-agent.ts';
import type { TestkitMatchers } from './matchers/matcher-types.ts';
import { matchers } from './matchers/matchers.ts';
import type { TestAgentOptions } from './test-agent-options.ts';
import type { TestAgentServer } from './test-agent-server.ts';

expect.extend({ ...matchers });

declare module 'vitest' {
  // The parameter has to be called and preset as in vitest.
  // oxlint-disable-next-line typescript/no-explicit-any
  interface Assertion<T = any> extends TestkitMatchers<T> {}
}

/** What a test gets by {@link agentTest}. */
export interface AgentFixtures {
  /** How the agent is set up; `agentTest.extend({ agentOptions: … })` says it for all tests of a file. */
  agentOptions: TestAgentOptions;
  /** A test agent that was started for this test and is stopped after it. */
  agent: TestAgentServer;
}

/**
 * The `test` of vitest with a test agent of its own for each test.
 *
 * @example
 * ```ts
 * agentTest('asks once', async ({ agent }) => {
 *   agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
 *   await askSomething(agent.url);
 *   expect(agent).toHaveReceivedMessage({ text: /hello/, count: 1 });
 * });
 * ```
 */
export const agentTest = test.extend<AgentFixtures>({
  agentOptions: [{}, { injected: true }],
  agent: async ({ agentOptions }, use) => {
    await withTestAgent(agentOptions, use);
  },
});
