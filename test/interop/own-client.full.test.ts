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

describe('testClientConformance', () => {
  it('finds no violation of our client', async () => {
    const outcome = await testClientConformance(ownClient, { timeout: 120_000 });
    expect(outcome.variants).toHaveLength(7);
    expect(violations(outcome)).toEqual([]);
  }, 600_000);

  it('finds no violation of our commands', async () => {
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
    expect(violations(outcome)).toEqual([]);
  }, 1_800_000);
});
