import { afterEach } from 'vitest';
import type { Bridge } from '../../../src/bridge/action-types.ts';
import { bridge } from '../../../src/bridge/bridge.ts';
import type { BridgeOptions } from '../../../src/bridge/bridge-options.ts';
import { connect } from '../../../src/client/connect.ts';
import type { ConnectOptions } from '../../../src/client/connect-options.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import { serve } from '../../../src/server/node/serve.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Registers a function that runs after the current test, in reverse order. */
export function closeAfterTest(close: () => Promise<unknown>): void {
  closing.push(close);
}

/** Creates a bridge to the agent at a URL; both are closed after the test. */
export async function bridgeToUrl(
  url: string,
  options: BridgeOptions & { agentName?: string } = {},
  connectOptions: ConnectOptions = {},
): Promise<Bridge> {
  const agent = connect(url, { maxRetries: 0, maxResumes: 0, ...connectOptions });
  closeAfterTest(() => agent.close());
  const created = await bridge({ agentName: 'remote', agent, ...options });
  closeAfterTest(() => created.close());
  return created;
}

/** Serves an agent over HTTP and creates a bridge to it; all is closed after the test. */
export async function bridgeToServedAgent(
  agent: Agent,
  options: BridgeOptions & { agentName?: string } = {},
  connectOptions: ConnectOptions = {},
): Promise<Bridge> {
  const server = await serve(agent);
  closeAfterTest(() => server.stop(0));
  return bridgeToUrl(server.url, options, connectOptions);
}
