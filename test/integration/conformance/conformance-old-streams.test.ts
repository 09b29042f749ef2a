import { expect, it } from 'vitest';
import { allChecks } from '../../../src/conformance/checks/index.ts';
import { allInvariants } from '../../../src/conformance/invariants/index.ts';
import { allMutants } from '../../../src/conformance/mutants/all-mutants.ts';
import { serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import { runChecks } from '../../../src/conformance/run-checks.ts';

it('reports an agent of 0.1 that streams at /subscribe only with one warning', async () => {
  const mutant = allMutants.find(({ id }) => id === 'stream.at-url:subscribe-only');
  const served = await serveMutant(mutant);
  try {
    const { results } = await runChecks(served.url, {
      checks: allChecks,
      invariants: allInvariants,
      prompts: fixturePrompts,
      versions: ['0.1'],
      only: ['stream.opens', 'stream.first-status', 'stream.unicode', 'stream.chunks', 'stream.at-url'],
    });
    const verdicts = results.map(({ rule, verdict }) => `${rule.id} ${verdict}`);
    expect(verdicts.toSorted()).toEqual([
      'stream.at-url warn',
      'stream.chunks pass',
      'stream.first-status pass',
      'stream.opens pass',
      'stream.unicode pass',
    ]);
  } finally {
    await served.close();
  }
});
