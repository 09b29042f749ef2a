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

/** Mutants of trailers, of the agent and of metadata. */
const overGrpc = ['grpc.error-info:domain', 'get.unknown:wrong-error-grpc', 'version.unknown:served-grpc'];

vi.setConfig({ maxConcurrency: 8 });

describe.concurrent('runMutant', () => {
  it.each([...firstOfArea])('kills a mutant of the area %s', async (_area, mutant) => {
    expect((await runMutant(suite, mutant)).missed).toEqual([]);
  });

  it.each(overGrpc)('kills %s', async (id) => {
    const mutant = allMutants.find((each) => each.id === id);
    expect(mutant && (await runMutant(suite, mutant)).missed).toEqual([]);
  });
});

describe('allMutants', () => {
  const rulesOf = (mutants: typeof allMutants): Set<string> =>
    new Set(mutants.flatMap(({ violates }) => violates));

  it('has a unique id for each mutant', () => {
    const ids = allMutants.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('violates every rule, and over gRPC every rule that applies to it', () => {
    const violated = rulesOf(allMutants);
    expect([...allChecks, ...allInvariants].map(({ id }) => id).filter((id) => !violated.has(id))).toEqual(
      [],
    );
    const violatedOverGrpc = rulesOf(allMutants.filter(({ transports }) => transports?.includes('GRPC')));
    const rules = [...allChecks.filter(({ about }) => about !== 'card'), ...allInvariants].filter(
      ({ transports = ['GRPC'], versions }) =>
        transports.includes('GRPC') && versions.some((version) => version !== '0.1'),
    );
    expect(rules.map(({ id }) => id).filter((id) => !violatedOverGrpc.has(id))).toEqual([]);
  });
});
