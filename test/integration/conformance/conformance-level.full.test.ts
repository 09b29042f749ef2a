import { describe, expect, it } from 'vitest';
import { computeLevel } from '../../../src/conformance/conformance-level.ts';
import type { MutantAgent } from '../../../src/conformance/mutants/harness/mutant-agent.ts';
import { serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { checkedTransports } from '../../../src/conformance/rule-model.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';

describe('conformance level of a correct agent in all versions', () => {
  it.each<[string, Partial<MutantAgent>]>([
    ['with all features', {}],
    ['without push notifications', { definition: { pushNotifications: false } }],
    ['without streaming', { definition: { streaming: false } }],
  ])('is full %s', async (_what, agent) => {
    const served = await serveMutant({ transports: checkedTransports, ...agent });
    try {
      const { results, variants } = await testConformance(served.url, {
        prompts: fixturePrompts,
        timeout: 30_000,
      });
      expect(variants).toHaveLength(7);
      const others = results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
      expect(others.map(({ rule, version, message }) => `${rule.id} ${version} ${message}`)).toEqual([]);
      expect(computeLevel(results, variants)).toBe('full');
    } finally {
      await served.close();
    }
  });
});
