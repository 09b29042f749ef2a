import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import { allMutants } from './all-mutants.ts';
import { runMutant } from './self-test.ts';

const suite = { checks: allChecks, invariants: allInvariants };

// Unresponsive mutants keep the suite waiting until its timeout without using the CPU.
vi.setConfig({ maxConcurrency: 16 });

describe.concurrent('runMutant', () => {
  it.each(allMutants.map((mutant) => [mutant.id, mutant] as const))(
    'kills %s',
    async (_id, mutant) => {
      expect((await runMutant(suite, mutant)).missed).toEqual([]);
    },
    300_000,
  );
});
