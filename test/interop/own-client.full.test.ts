import { describe, expect, it } from 'vitest';
import { clientVariants } from '../../src/conformance/clients/detect-support.ts';
import { testClientConformance } from '../../src/conformance/clients/test-client-conformance.ts';
import type { RunChecksOutcome } from '../../src/conformance/run-checks.ts';
import { cliEntry } from '../support/cli/run-command.ts';
import { ownClient } from './own-client.ts';
import { ownCommands } from './own-commands.ts';

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
    const outcome = await testClientConformance(ownCommands, {
      level: 'MUST',
      timeout: 120_000,
      variants: clientVariants.filter(({ version }) => version === '1.0'),
    });
    expect(outcome.variants).toHaveLength(3);
    expect(violations(outcome)).toEqual([]);
  }, 600_000);

  it('finds no violation of the built command', async () => {
    const outcome = await testClientConformance(
      {
        command: [process.execPath, cliEntry, 'send', '{text}', '-a', '{url}', '--bearer', '{token}'],
      },
      {
        level: 'MUST',
        timeout: 120_000,
        variants: [{ version: '1.0', transport: 'JSONRPC' }],
      },
    );
    expect(outcome.variants).toHaveLength(1);
    expect(violations(outcome)).toEqual([]);
  }, 600_000);
});
