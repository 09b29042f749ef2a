/** An agent behind a gate, which notes its calls. */
import { afterEach } from 'vitest';
import type { AgentDefinition } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import type { CallContext } from '../../../src/protocol/agent.ts';
import type { AuthOptions } from '../../../src/server/auth/authenticator.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';
import type { ServerUnderTest, ServerAdapter } from './server-adapters.ts';

/** The headers of 1.0. */
export const headers1_0 = { 'a2a-version': '1.0', 'content-type': 'application/json' };
/** A message in the words of 1.0. */
export const message1_0 = (metadata?: object) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }],
  metadata,
});
/** A request in JSON-RPC. */
export const rpcRequest = (method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 5, method, params });
/** What the tests of a door have at hand. */
interface Watch {
  /** What the agent was called with since the last start. */
  calls: CallContext[];
  start: (
    auth: AuthOptions,
    more?: Partial<AgentDefinition>,
    options?: ServerOptions,
  ) => Promise<ServerUnderTest>;
  /** Sends a message over REST. */
  send: (
    door: ServerUnderTest,
    headers: Record<string, string>,
    metadata?: object,
    query?: string,
  ) => Promise<Response>;
}

/** Serves agents for a file of tests, and stops them. */
export function serveObserved(open: ServerAdapter['open']): Watch {
  const opened: { door: ServerUnderTest; agent: LocalAgent }[] = [];
  const calls: CallContext[] = [];

  /** Serves an agent that notes its calls. */
  async function start(
    auth: AuthOptions,
    more: Partial<AgentDefinition> = {},
    options: ServerOptions = {},
  ): Promise<ServerUnderTest> {
    calls.length = 0;
    const agent = defineAgent({
      name: 'Watch',
      description: 'Notes who calls',
      process: ({ call }) => {
        calls.push(call);
        return 'noted';
      },
      extendedCard: (call) => ({ description: `For ${call.principal?.id}` }),
      ...more,
    });
    const door = await open(agent, { ...options, auth });
    opened.push({ door, agent });
    return door;
  }
  afterEach(async () => {
    for (const { door, agent } of opened.splice(0)) {
      await door.close();
      await agent.close();
    }
  });

  const send = (
    door: ServerUnderTest,
    headers: Record<string, string>,
    metadata?: object,
    query = '',
  ): Promise<Response> =>
    door.ask(`/message:send${query}`, {
      method: 'POST',
      headers: { ...headers1_0, ...headers },
      body: JSON.stringify({ message: message1_0(metadata) }),
    });
  return { calls, start, send };
}

/** Who has which token. */
export const testTokens = { 'alice-token': 'alice', 'bob-token': { id: 'bob', scopes: ['read', 'write'] } };

/** The headers with which somebody shows its token. */
export const withToken = (name: string) => ({ authorization: `Bearer ${name}-token` });
