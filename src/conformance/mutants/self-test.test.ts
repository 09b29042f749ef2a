import { describe, expect, it, vi } from 'vitest';
import { allChecks } from '../checks/index.ts';
import { ruleArea } from '../conformance-level.ts';
import { allInvariants } from '../invariants/index.ts';
import { allMutants } from './all-mutants.ts';
import { runMutant } from './self-test.ts';

const suite = { checks: allChecks, invariants: allInvariants };

/** The first mutant of each area; self-test.full.test.ts runs all. */
const firstOfArea = new Map(
  allMutants.toReversed().map((mutant) => [ruleArea([mutant.violates].flat()[0] ?? ''), mutant]),
);

vi.setConfig({ maxConcurrency: 8 });

describe.concurrent('runMutant', () => {
  it.each([...firstOfArea])('kills a mutant of the area %s', async (_area, mutant) => {
    expect((await runMutant(suite, mutant)).missed).toEqual([]);
  });
});
