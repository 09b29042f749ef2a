import { describe, expect, it } from 'vitest';
import { outputChecks } from '../../checks/operations/output.ts';
import { brokenOutput } from './output.ts';
import { falseAlarms, tryToCatch } from '../self-test.ts';

const suite = { checks: outputChecks, invariants: [] };

describe('rules about what an agent gives', () => {
  it.each(brokenOutput.map((broken) => [broken.id, broken] as const))('catch %s', async (_id, broken) => {
    expect((await tryToCatch(suite, broken)).missed).toEqual([]);
  });

  it('have nothing against the correct agent', async () => {
    const definition = { extendedCard: { description: 'More of it' } };
    expect(await falseAlarms(suite, [{}, { isGuarded: true, definition }])).toEqual([]);
  });
});
