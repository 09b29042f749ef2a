import { describe, expect, it, vi } from 'vitest';
import { allClientChecks } from '../../clients/checks/index.ts';
import { createClientInvariants } from '../../clients/invariants/index.ts';
import { testClientConformance } from '../../clients/test-client-conformance.ts';
import { ruleArea } from '../../conformance-level.ts';
import { clientMutants } from './client-mutants.ts';
import { runClientMutant } from './client-self-test.ts';
import { createReferenceClient } from './reference-client.ts';

/** The first mutant of each area; client-self-test.full.test.ts runs all. */
const firstOfArea = new Map(
  clientMutants.toReversed().map((mutant) => [ruleArea(mutant.violates), mutant] as const),
);

vi.setConfig({ maxConcurrency: 4, testTimeout: 120_000 });

describe.concurrent('runClientMutant', () => {
  it.each([...firstOfArea])('detects a mutant of the area %s', async (_area, mutant) => {
    expect(await runClientMutant(mutant)).toEqual([]);
  });
});

describe('clientMutants', () => {
  it('violates every rule', () => {
    const violated = new Set(clientMutants.map(({ violates }) => violates));
    const rules = [...allClientChecks, ...createClientInvariants()].map(({ id }) => id);
    expect(rules.filter((id) => !violated.has(id))).toEqual([]);
  });
});

describe('testClientConformance', () => {
  it('finds the variants that a client offers, and no violation of a correct client', async () => {
    const { results, variants, warnings } = await testClientConformance(createReferenceClient(), {
      only: ['client-send', 'client-request', 'client-turn'],
      timeout: 60_000,
    });
    expect(variants.map(({ version, transport }) => `${version} ${transport}`)).toEqual([
      '1.0 JSONRPC',
      '1.0 HTTP+JSON',
      '1.0 GRPC',
      '0.3 JSONRPC',
      '0.3 HTTP+JSON',
      '0.3 GRPC',
      '0.1 JSONRPC',
    ]);
    expect(results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('reports rules that need an operation which the client does not offer as not applicable', async () => {
    const client = { ...createReferenceClient(), operations: ['send'] as const };
    const { results } = await testClientConformance(client, {
      only: ['client-get.task', 'client-send.completes'],
      variants: [{ version: '1.0', transport: 'JSONRPC' }],
      timeout: 60_000,
    });
    expect(results.map(({ rule, verdict }) => [rule.id, verdict])).toEqual([
      ['client-send.completes', 'pass'],
      ['client-get.task', 'not-applicable'],
    ]);
  });

  it('gives no verdict on a client that sends no message', async () => {
    const client = {
      ...createReferenceClient(),
      run: async () => ({ code: 3, isTimeout: false, stdout: '', stderr: 'no' }),
    };
    const { results, unreachable } = await testClientConformance(client);
    expect(results).toEqual([]);
    expect(unreachable).toContain('exit code 3: no');
  });

  it('reports the remaining rules as inconclusive if the run is aborted', async () => {
    const stop = new AbortController();
    const { results } = await testClientConformance(createReferenceClient(), {
      only: ['client-send.once', 'client-send.slow'],
      variants: [{ version: '1.0', transport: 'JSONRPC' }],
      timeout: 60_000,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(results.map(({ rule, verdict, message }) => [rule.id, verdict, message])).toEqual([
      ['client-send.once', 'pass', ''],
      ['client-send.slow', 'inconclusive', 'The run was aborted.'],
    ]);
  });
});
