import { describe, expect, it } from 'vitest';
import { outputChecks } from '../../checks/operations/output.ts';
import { outputMutants } from './output.ts';
import { findFalsePositives, runMutant } from '../self-test.ts';

const suite = { checks: outputChecks, invariants: [] };

describe('rules about what an agent gives', () => {
  it.each(outputMutants.map((broken) => [broken.id, broken] as const))('catch %s', async (_id, broken) => {
    expect((await runMutant(suite, broken)).missed).toEqual([]);
  });

  it('have nothing against the correct agent', async () => {
    const definition = { extendedCard: { description: 'More of it' } };
    expect(await findFalsePositives(suite, [{}, { requiresAuthentication: true, definition }])).toEqual([]);
  });
});
