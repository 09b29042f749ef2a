import { expect, it } from 'vitest';
import { findCheckedExpressions, findFlaw } from './regular-expressions.ts';

it('proves that each expression is linear', { timeout: 1_200_000 }, async () => {
  const flaws: string[] = [];
  const rest = findCheckedExpressions().values();
  const checkRest = async () => {
    for (const { text, places } of rest) {
      const flaw = await findFlaw(text, 300_000);
      if (flaw !== undefined) flaws.push(`${text} (${places.join(', ')}): ${flaw}`);
    }
  };
  await Promise.all([checkRest(), checkRest()]);
  expect(flaws).toEqual([]);
});
