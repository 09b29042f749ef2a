import { expect, it } from 'vitest';
import { brokenGet } from './get.ts';
import { falseAlarms, tryToCatch } from './self-test.ts';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';

const suite = { checks: allChecks, invariants: allInvariants };

it('catches every broken agent', async () => {
  for (const broken of brokenGet)
    expect(await tryToCatch(suite, broken)).toMatchObject({ isCaught: true, missed: [] });
});

it('has nothing against the correct one', async () => {
  expect(await falseAlarms(suite, [{}, { isGuarded: true }])).toEqual([]);
}, 60_000);
