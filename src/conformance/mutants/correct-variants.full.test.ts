import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';
import { findFalsePositives } from './self-test.ts';
import { correctVariants } from './correct-variants.ts';

const suite = { checks: allChecks, invariants: allInvariants };

// Each run waits for slow tasks two thirds of its time; more runs at once would delay each other.
vi.setConfig({ maxConcurrency: 3 });

describe.concurrent('findFalsePositives', () => {
  it.each(Object.entries(correctVariants))(
    'returns none for a correct agent %s',
    async (_name, variant) => {
      const falsePositives = await findFalsePositives(suite, [variant]);
      expect(
        falsePositives.map(
          ({ rule, version, transport, message }) => `${rule.id} ${version} ${transport} ${message}`,
        ),
      ).toEqual([]);
    },
    600_000,
  );

  it('returns none for an agent that requests input while a webhook hangs', async () => {
    const hangingWebhook = { checks: allChecks.filter(({ id }) => id === 'push.hangs'), invariants: [] };
    const asking: Partial<MutantAgent> = {
      definition: {
        async *process({ ask }) {
          yield await ask('Which one?');
        },
      },
    };
    expect(await findFalsePositives(hangingWebhook, [asking])).toEqual([]);
  }, 60_000);
});
