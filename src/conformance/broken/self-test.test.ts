import { describe, expect, it } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import type { BrokenAgent } from './broken-agent.ts';
import { allBroken } from './index.ts';
import { falseAlarms, tryToCatch } from './self-test.ts';
import { correctVariants } from './variants.ts';

const suite = { checks: allChecks, invariants: allInvariants };

describe.concurrent('the suite', () => {
  it.each(allBroken.map((broken) => [broken.id, broken] as const))(
    'catches %s',
    async (_id, broken) => {
      expect((await tryToCatch(suite, broken)).missed).toEqual([]);
    },
    60_000,
  );

  it.each(Object.entries(correctVariants))(
    'has nothing against the correct agent, %s',
    async (_what, variant) => {
      const alarms = await falseAlarms(suite, [variant]);
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
    const asks: Partial<BrokenAgent> = {
      definition: {
        async *process({ ask }) {
          yield await ask('Which one?');
        },
      },
    };
    expect(await falseAlarms(hangs, [asks])).toEqual([]);
  }, 60_000);
});
