import { serve } from '../../../server/node/serve.ts';
import { bearerAuth } from '../../../server/auth/schemes/bearer.ts';
import { startMutatingProxy } from './mutating-proxy.ts';
import type { MutantAgent } from './mutant-agent.ts';
import { fixtureAgent } from './fixture-agent.ts';

/** The callers that a guarded agent tells apart; the last one may do nothing. */
export const testPrincipals = { ann: 'token-of-ann', ben: 'token-of-ben', cat: 'token-of-cat' } as const;

const scopes = ['talk'];

const holders = {
  [testPrincipals.ann]: { id: 'ann', scopes },
  [testPrincipals.ben]: { id: 'ben', scopes },
  [testPrincipals.cat]: { id: 'cat', scopes: [] },
};

/** An agent that is served to be looked at. */
export interface ServedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the correct agent of the fixtures, or one that is broken in one way. */
export async function serveMutant(broken: Partial<MutantAgent> = {}): Promise<ServedAgent> {
  const wire = await startMutatingProxy(broken.wire?.() ?? {});
  const { definition = {} } = broken;
  const correct = fixtureAgent({ definition, push: { egress: { allowLoopback: true } } });
  const agent = broken.agent ? broken.agent(correct) : correct;
  const server = await serve(agent, {
    publicUrl: wire.url,
    limits: { requestsPerClient: Number.POSITIVE_INFINITY, streamsPerClient: Number.POSITIVE_INFINITY },
    ...(broken.requiresAuthentication
      ? { auth: { authenticators: [{ ...bearerAuth({ tokens: holders }), scopes }] } }
      : {}),
    ...broken.server,
  });
  wire.to(server.url);
  return {
    url: wire.url,
    async close() {
      wire.close();
      await server.stop(0);
      await correct.close();
    },
  };
}
