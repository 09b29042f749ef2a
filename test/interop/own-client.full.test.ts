import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clientOperations } from '../../src/conformance/clients/client-under-test.ts';
import { clientVariants } from '../../src/conformance/clients/detect-support.ts';
import { testClientConformance } from '../../src/conformance/clients/test-client-conformance.ts';
import type { RunChecksOutcome } from '../../src/conformance/run-checks.ts';
import { ownClient } from './own-client.ts';

const violations = ({ results }: RunChecksOutcome): string[] =>
  results
    .filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable')
    .map(({ rule, message }) => `${rule.id}: ${message}`);
const order = 'The client did not use the first interface of the card.';

// Both use gRPC only if the card offers nothing else; see docs/guide/client.md.
describe('testClientConformance', () => {
  it('finds that our client violates only the order of interfaces', async () => {
    const outcome = await testClientConformance(ownClient, { timeout: 120_000 });
    expect(outcome.variants).toHaveLength(7);
    expect(violations(outcome)).toEqual([`client-card.order: ${order}`, `client-card.preferred: ${order}`]);
  }, 600_000);

  it('finds that our commands violate only the order of interfaces', async () => {
    const harness = fileURLToPath(new URL('fixtures/dragoman-commands.mjs', import.meta.url));
    const outcome = await testClientConformance(
      { command: [process.execPath, harness, '{url}'], operations: clientOperations },
      {
        level: 'MUST',
        timeout: 120_000,
        maxTime: 1_800_000,
        variants: clientVariants.filter(({ version }) => version === '1.0'),
      },
    );
    expect(outcome.variants).toHaveLength(3);
    expect(violations(outcome)).toEqual([`client-card.order: ${order}`]);
  }, 1_800_000);
});
