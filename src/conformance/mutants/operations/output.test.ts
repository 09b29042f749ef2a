import { describe, expect, it } from 'vitest';
import { outputChecks } from '../../checks/operations/output.ts';
import { outputMutants } from './output.ts';
import { findFalsePositives, runMutant } from '../self-test.ts';

const suite = { checks: outputChecks, invariants: [] };

describe('outputChecks', () => {
  it.each(outputMutants.map((mutant) => [mutant.id, mutant] as const))('kill %s', async (_id, mutant) => {
    expect((await runMutant(suite, mutant)).missed).toEqual([]);
  });

  it('report no violations of correct agents', async () => {
    const definition = { extendedCard: { description: 'More of it' } };
    expect(await findFalsePositives(suite, [{}, { requiresAuthentication: true, definition }])).toEqual([]);
  });
});
