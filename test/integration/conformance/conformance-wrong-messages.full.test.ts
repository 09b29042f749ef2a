import { describe, expect, it } from 'vitest';
import { allInvariants } from '../../../src/conformance/invariants/index.ts';
import { targetOutcomes } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { status } from '../../../src/engine/agent-output.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve } from '../../../src/server/node/serve.ts';

/** Correct agents whose answer to each message has the same outcome. */
const agents = {
  completed: defineAgent({ name: 'Done', description: 'Completes', process: () => 'done' }),
  failed: defineAgent({
    name: 'Failing',
    description: 'Fails',
    process: () => status('failed'),
  }),
  'input-required': defineAgent({
    name: 'Asker',
    description: 'Asks',
    async *process({ ask }) {
      yield 'x';
      for (;;) await ask('Which?');
    },
  }),
};

/** They are evaluated on all traffic, whatever the messages lead to. */
const invariants = new Set(allInvariants.map(({ id }) => id));

const prompts = Object.fromEntries(targetOutcomes.map((each) => [each, { text: 'the same' }]));

describe('messages that lead to another state than the user entered', () => {
  for (const [outcome, agent] of Object.entries(agents))
    it(`leave rules undecided for an agent that always answers with ${outcome}`, {
      timeout: 240_000,
    }, async () => {
      await using server = await serve(agent);
      const { results } = await testConformance(server.url, { prompts, level: 'MAY', timeout: 3_000 });
      const violated = results.filter(
        ({ rule, verdict, transport }) =>
          ['fail', 'warn', 'error'].includes(verdict) && !invariants.has(rule.id) && transport !== undefined,
      );
      expect(
        violated.map(({ rule, version, transport, message }) => ({
          id: rule.id,
          version,
          transport,
          message,
        })),
      ).toEqual([]);
    });
});
