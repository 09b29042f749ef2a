import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';
import { findFalsePositives } from './self-test.ts';
import { correctVariants } from './correct-variants.ts';

const suite = { checks: allChecks, invariants: allInvariants };

// Each waits for slow tasks for two thirds of its time; more at once would only wait for each other.
vi.setConfig({ maxConcurrency: 3 });

describe.concurrent('the suite', () => {
  it.each(Object.entries(correctVariants))(
    'has nothing against the correct agent, %s',
    async (_what, variant) => {
      const alarms = await findFalsePositives(suite, [variant]);
      expect(
        alarms.map(
          ({ rule, version, transport, message }) => `${rule.id} ${version} ${transport} ${message}`,
        ),
      ).toEqual([]);
    },
    120_000,
  );

  it('has nothing against an agent that asks its caller something while a webhook hangs', async () => {
    const hangs = { checks: allChecks.filter(({ id }) => id === 'push.hangs'), invariants: [] };
    const asks: Partial<MutantAgent> = {
      definition: {
        async *process({ ask }) {
          yield await ask('Which one?');
        },
      },
    };
    expect(await findFalsePositives(hangs, [asks])).toEqual([]);
  }, 60_000);
});
