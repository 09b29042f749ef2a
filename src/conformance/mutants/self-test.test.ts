import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import { allMutants } from './index.ts';
import { runMutant } from './self-test.ts';

const suite = { checks: allChecks, invariants: allInvariants };

// Agents that never answer let the suite wait for all the time it has, with nothing to do.
vi.setConfig({ maxConcurrency: 16 });

describe.concurrent('the suite', () => {
  it.each(allMutants.map((broken) => [broken.id, broken] as const))(
    'catches %s',
    async (_id, broken) => {
      expect((await runMutant(suite, broken)).missed).toEqual([]);
    },
    60_000,
  );
});
