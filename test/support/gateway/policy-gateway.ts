import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectOptions } from '../../../src/client/index.ts';
import { bearer } from '../../../src/client/credentials.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway, type RunGatewayOptions, type RunningGateway } from '../../../src/gateway/run-gateway.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import type { Closable } from '../close-after-each.ts';

/** Tokens of the clients in `auth` of {@link startPolicyGateway}. */
const policyTokens = { alice: 'alice-token', bob: 'bob-token', 'trial-1': 'trial-token' } as const;

/** Name of a client in `auth`. */
export type PolicyClient = keyof typeof policyTokens;

/** Alice may do everything with weather, Bob may send and read. Nothing else is allowed. */
export const twoClients = `policy:
  rules:
    - allow: { principals: [alice] }
      agents: [weather]
    - allow: { principals: [bob] }
      agents: [weather]
      operations: [send, stream, get]
`;

const auth = `auth:
  bearer:
    - { token: alice-token, principal: alice, scopes: [tasks.write] }
    - { token: bob-token, principal: bob }
    - { token: trial-token, principal: trial-1 }
`;

/** A gateway with the agents \`weather\` and \`ledger\`, and its log. */
export interface PolicyGateway {
  readonly running: RunningGateway;
  readonly url: string;
  readonly logs: LogEntry[];
  /** Connects a client to an agent; without a name, one without credentials. */
  at: (agent: string, client?: PolicyClient, options?: ConnectOptions) => ReturnType<typeof connect>;
  /** Returns the settings of a file with another policy. */
  settingsWith: (policy: string) => ReturnType<typeof readGatewayConfig>;
}

/** An agent that repeats the text, or waits until it is canceled. */
export function createWaitingAgent(name: string) {
  return defineAgent({
    name,
    description: 'Repeats the text',

    async *process({ text, signal }) {
      if (text === 'wait') {
        yield { state: 'working' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }
      yield `${name}: ${text}`;
    },
  });
}

/** Starts a gateway whose file has a policy. @param more - further top-level keys of the file. */
export async function startPolicyGateway(
  policy: string,
  open: Closable[],
  { more = auth, ...options }: RunGatewayOptions & { more?: string } = {},
): Promise<PolicyGateway> {
  const logs: LogEntry[] = [];
  const settingsWith = (text: string) =>
    readGatewayConfig(
      `listen: 0\n${more}agents:\n  weather: { module: weather }\n  ledger: { module: ledger }\n${text}`,
      join(tmpdir(), 'gateway.yaml'),
      {},
    );
  const agents = new Map(['weather', 'ledger'].map((name) => [name, createWaitingAgent(name)]));
  const running = await runGateway(settingsWith(policy), {
    loadModule: async (file) => agents.get(file.split('/').at(-1) ?? '') ?? createWaitingAgent(file),
    log: (entry) => logs.push(entry),
    ...options,
  });
  open.push({ close: () => running.stop(0) });
  const { url = '' } = running;
  return {
    running,
    url,
    logs,
    settingsWith,
    at(agent, client, connectOptions = {}) {
      const remote = connect(`${url}/agents/${agent}`, {
        endpointCache: createEndpointCache(),
        ...(client && { auth: bearer(policyTokens[client]), cardAuth: bearer(policyTokens[client]) }),
        ...connectOptions,
      });
      open.push({ close: () => remote.close() });
      return remote;
    },
  };
}

/** Headers of a client, with the version of the protocol. */
export function policyHeaders(client?: PolicyClient, version = '1.0'): Record<string, string> {
  return {
    'a2a-version': version,
    ...(client && { authorization: `Bearer ${policyTokens[client]}` }),
  };
}
