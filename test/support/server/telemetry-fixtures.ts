/** Agents behind authentication that record their calls. */
import { afterEach } from 'vitest';
import type { AgentDefinition } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import type { CallContext } from '../../../src/protocol/agent.ts';
import type { AuthOptions } from '../../../src/server/auth/authenticator.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';
import type { ServerUnderTest, ServerAdapter } from './server-adapters.ts';

export const headers1_0 = { 'a2a-version': '1.0', 'content-type': 'application/json' };
/** Builds a message in the 1.0 wire format. */
export const message1_0 = (metadata?: object) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }],
  metadata,
});
/** Serializes a JSON-RPC request. */
export const rpcRequest = (method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 5, method, params });
/** Starts servers and sends requests to them. */
interface ObservedServers {
  /** Call contexts of the agent since the last start. */
  calls: CallContext[];
  start: (
    auth: AuthOptions,
    more?: Partial<AgentDefinition>,
    options?: ServerOptions,
  ) => Promise<ServerUnderTest>;
  /** Sends a message over 1.0 REST. */
  send: (
    server: ServerUnderTest,
    headers: Record<string, string>,
    metadata?: object,
    query?: string,
  ) => Promise<Response>;
}

/** Serves agents on one adapter and stops them after each test. */
export function serveObserved(open: ServerAdapter['open']): ObservedServers {
  const opened: { server: ServerUnderTest; agent: LocalAgent }[] = [];
  const calls: CallContext[] = [];

  async function start(
    auth: AuthOptions,
    more: Partial<AgentDefinition> = {},
    options: ServerOptions = {},
  ): Promise<ServerUnderTest> {
    calls.length = 0;
    const agent = defineAgent({
      name: 'Watch',
      description: 'Records its calls',
      process: ({ call }) => {
        calls.push(call);
        return 'noted';
      },
      extendedCard: (call) => ({ description: `For ${call.principal?.id}` }),
      ...more,
    });
    const server = await open(agent, { ...options, auth });
    opened.push({ server, agent });
    return server;
  }
  afterEach(async () => {
    for (const { server, agent } of opened.splice(0)) {
      await server.close();
      await agent.close();
    }
  });

  const send = (
    server: ServerUnderTest,
    headers: Record<string, string>,
    metadata?: object,
    query = '',
  ): Promise<Response> =>
    server.request(`/message:send${query}`, {
      method: 'POST',
      headers: { ...headers1_0, ...headers },
      body: JSON.stringify({ message: message1_0(metadata) }),
    });
  return { calls, start, send };
}

/** Principals by token. */
export const testTokens = { 'alice-token': 'alice', 'bob-token': { id: 'bob', scopes: ['read', 'write'] } };

/** Returns the Authorization header of a user of {@link testTokens}. */
export const withToken = (name: string) => ({ authorization: `Bearer ${name}-token` });
