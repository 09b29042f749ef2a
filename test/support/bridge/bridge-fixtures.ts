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

/** Closes something when the test is over. */
export function closeAfterTest(close: () => Promise<unknown>): void {
  closing.push(close);
}

/** A bridge to an agent at an address. */
export async function bridgeToUrl(
  url: string,
  options: BridgeOptions & { agentName?: string } = {},
  connecting: ConnectOptions = {},
): Promise<Bridge> {
  const agent = connect(url, { maxRetries: 0, maxResumes: 0, ...connecting });
  closeAfterTest(() => agent.close());
  const made = await bridge({ agentName: 'remote', agent, ...options });
  closeAfterTest(() => made.close());
  return made;
}

/** A bridge to an agent that is served over HTTP for the length of a test. */
export async function bridgeToServedAgent(
  agent: Agent,
  options: BridgeOptions & { agentName?: string } = {},
  connecting: ConnectOptions = {},
): Promise<Bridge> {
  const server = await serve(agent);
  closeAfterTest(() => server.stop(0));
  return bridgeToUrl(server.url, options, connecting);
}
