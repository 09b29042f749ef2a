import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import { allBroken } from './index.ts';
import { tryToCatch } from './self-test.ts';

const suite = { checks: allChecks, invariants: allInvariants };

// Agents that never answer let the suite wait for all the time it has, with nothing to do.
vi.setConfig({ maxConcurrency: 16 });

describe.concurrent('the suite', () => {
  it.each(allBroken.map((broken) => [broken.id, broken] as const))(
    'catches %s',
    async (_id, broken) => {
      expect((await tryToCatch(suite, broken)).missed).toEqual([]);
    },
    60_000,
  );
});
