import type { TestAgentOptions } from './test-agent-options.ts';
import { TestAgentServer } from './test-agent-server.ts';

/**
 * Starts a test agent, passes it to a function, and stops it when the function returns or throws.
 *
 * @returns the result of the function.
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
