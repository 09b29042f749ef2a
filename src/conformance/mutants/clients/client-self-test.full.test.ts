import { describe, expect, it, vi } from 'vitest';
import { clientMutants } from './client-mutants.ts';
import { findClientFalseAlarms, runClientMutant } from './client-self-test.ts';

// Mutants that hang keep the suite waiting until its timeout without using the CPU.
vi.setConfig({ maxConcurrency: 4, testTimeout: 300_000 });

describe.concurrent('runClientMutant', () => {
  it.each(
    clientMutants.map((mutant) => [`${mutant.violates} with a client that ${mutant.flaw}`, mutant] as const),
  )('detects a violation of %s', async (_name, mutant) => {
    expect(await runClientMutant(mutant)).toEqual([]);
  });
});

describe('findClientFalseAlarms', () => {
  it('finds none for the reference client in all versions and transports', async () => {
    const alarms = await findClientFalseAlarms();
    expect(
      alarms.map(({ rule, version, transport, message }) => [rule.id, version, transport, message]),
    ).toEqual([]);
  });
});
