import type { TestAgentOptions } from './test-agent-options.ts';
import { TestAgentServer } from './test-agent-server.ts';

/**
 * Starts a test agent, gives it to a test, and stops it however the test ends.
 *
 * @returns what the test gives.
 */
export async function withTestAgent<Result>(
  options: TestAgentOptions,
  use: (agent: TestAgentServer) => Result | Promise<Result>,
): Promise<Result> {
  const agent = await TestAgentServer.start(options);
  try {
    return await use(agent);
  } finally {
    await agent.stop();
  }
}
