import { describe, expect, it } from 'vitest';
import { allMutants, serveMutant } from '../../../src/conformance/mutants/index.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve } from '../../../src/server/node/serve.ts';

const options = { only: ['stream.ends'], versions: ['1.0'], transports: ['JSONRPC'] } as const;

describe('a message that the user entered for a state', () => {
  it('leaves the rule undecided and is named if it leads to another state', async () => {
    const agent = defineAgent({ name: 'Done', description: 'Completes', process: () => 'done' });
    await using server = await serve(agent);
    const prompts = { failed: { text: 'please fail' } };
    const { results } = await testConformance(server.url, { ...options, prompts });
    expect(results.find(({ rule }) => rule.id === 'stream.ends')).toMatchObject({
      verdict: 'inconclusive',
      message: expect.stringMatching(
        /^The message "please fail" for "failed" led to the state "completed"\. /,
      ),
      missing: { kind: 'prompt', outcome: 'failed' },
    });
  });

  it('reveals a violation if it leads to the state', async () => {
    const mutant = allMutants.find(({ id }) => id === 'stream.ends:no-rejection');
    if (!mutant) throw new Error('The mutant is missing');
    const served = await serveMutant(mutant);
    try {
      const prompts = { rejected: { text: 'fx:reject' } };
      const { results } = await testConformance(served.url, { ...options, prompts });
      expect(results.find(({ rule }) => rule.id === 'stream.ends')).toMatchObject({ verdict: 'fail' });
    } finally {
      await served.close();
    }
  });
});
