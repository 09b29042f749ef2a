import { serve } from '../../../server/node/serve.ts';
import { bearerAuth } from '../../../server/auth/schemes/bearer.ts';
import { startMutatingProxy } from './mutating-proxy.ts';
import type { MutantAgent } from './mutant-agent.ts';
import { fixtureAgent } from './fixture-agent.ts';

/** Tokens of the principals of an agent with authentication. `cat` has no scopes. */
export const testPrincipals = { ann: 'token-of-ann', ben: 'token-of-ben', cat: 'token-of-cat' } as const;

const scopes = ['talk'];

const tokens = {
  [testPrincipals.ann]: { id: 'ann', scopes },
  [testPrincipals.ben]: { id: 'ben', scopes },
  [testPrincipals.cat]: { id: 'cat', scopes: [] },
};

/** A served agent for tests. */
export interface ServedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the fixture agent with the given mutation. Without one the agent is correct. */
export async function serveMutant(mutant: Partial<MutantAgent> = {}): Promise<ServedAgent> {
  const proxy = await startMutatingProxy(mutant.wire?.() ?? {});
  const { definition = {} } = mutant;
  const correct = fixtureAgent({ definition, push: { egress: { allowLoopback: true } } });
  const agent = mutant.agent ? mutant.agent(correct) : correct;
  const server = await serve(agent, {
    publicUrl: proxy.url,
    grpc: mutant.transports?.includes('GRPC') ?? false,
    limits: { requestsPerClient: Number.POSITIVE_INFINITY, streamsPerClient: Number.POSITIVE_INFINITY },
    ...(mutant.requiresAuthentication
      ? { auth: { authenticators: [{ ...bearerAuth({ tokens }), scopes }] } }
      : {}),
    ...mutant.server,
  });
  proxy.connectTo(server.url);
  return {
    url: proxy.url,
    async close() {
      proxy.close();
      await server.stop(0);
      await correct.close();
    },
  };
}
