/**
 * Matchers and fixtures for vitest. Importing this module extends `expect`.
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
  // Declaration merging requires the same type parameter as in vitest.
  // oxlint-disable-next-line typescript/no-explicit-any
  interface Assertion<T = any> extends TestkitMatchers<T> {}
}

/** Fixtures of {@link agentTest}. */
export interface AgentFixtures {
  /** Options of the agent; set them for all tests of a file with `agentTest.extend({ agentOptions: … })`. */
  agentOptions: TestAgentOptions;
  /** A test agent that is started before the test and stopped after it. */
  agent: TestAgentServer;
}

/**
 * The `test` function of vitest with a new test agent for each test.
 *
 * @example
 * ```ts
 * agentTest('sends one message', async ({ agent }) => {
 *   agent.prime([{ kind: 'task', status: { state: 'completed' } }]);
 *   await callMyClient(agent.url);
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
