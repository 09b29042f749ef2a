import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { computeLevel } from '../../../src/conformance/conformance-level.ts';
import { fixtureAgent } from '../../../src/conformance/mutants/harness/fixture-agent.ts';
import { fixturePrompts } from '../../../src/conformance/prompts/prompt-catalog.ts';
import type { ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import type { RunChecksOutcome } from '../../../src/conformance/run-checks.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { runDragoman } from '../../support/cli/run-command.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';

const limits = {
  requestsPerClient: Number.POSITIVE_INFINITY,
  streamsPerClient: Number.POSITIVE_INFINITY,
};

const variants = [['without TLS', false], ...(hasOpenssl() ? [['over TLS', true] as const] : [])] as const;
if (variants.length === 1) console.log('skipped: openssl is not installed');

describe.each(variants)('conformance of the server over gRPC %s', (_name, isSecure) => {
  const agent = fixtureAgent({ push: { egress: { allowLoopback: true } } });
  let outcome: RunChecksOutcome;

  beforeAll(async () => {
    const tls = isSecure ? { tls: createAuthority('conformance').server } : {};
    const server = await serve(agent, { grpc: true, limits, ...tls });
    outcome = await testConformance(server.url, {
      prompts: fixturePrompts,
      timeout: 20_000,
      transports: ['GRPC'],
      insecure: isSecure,
    });
    await server.stop(0);
  }, 120_000);

  afterAll(() => agent.close());

  it('violates no rule, and decides each', () => {
    const others = outcome.results.filter(
      ({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable',
    );
    expect(
      others.map(({ rule, version, verdict, message }) => `${rule.id} ${version} ${verdict} ${message}`),
    ).toEqual([]);
    expect(outcome.results.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(250);
  });

  it('has the level full in both versions', () => {
    expect(outcome.variants.map(({ version, transport }) => `${version} ${transport}`)).toEqual([
      '1.0 GRPC',
      '0.3 GRPC',
    ]);
    expect(computeLevel(outcome.results, outcome.variants)).toBe('full');
  });
});

describe('dragoman conformance --transport GRPC', () => {
  const agent = fixtureAgent();
  afterAll(() => agent.close());

  it('tests the variants of gRPC only, and reports them as JUnit and JSON', async () => {
    const server = await serve(agent, { grpc: true, limits });
    try {
      const args = ['conformance', server.url, '--fixtures', 'fx', '--only', 'get', '--transport', 'grpc'];
      const { stdout, code } = await runDragoman([...args, '--report', 'junit']).ended;
      expect(stdout).toContain('1.0 GRPC');
      expect(stdout).toContain('<testcase');
      expect(stdout).not.toContain('1.0 JSONRPC');
      const json = await runDragoman([...args, '-o', 'json']).ended;
      const report = JSON.parse(json.stdout) as ConformanceReport;
      expect(report.variants.map(({ version, transport }) => `${version} ${transport}`)).toEqual([
        '1.0 GRPC',
        '0.3 GRPC',
      ]);
      expect(report.conformanceLevel).toBe('full');
      expect([code, json.code]).toEqual([0, 0]);
    } finally {
      await server.stop(0);
    }
  });
});
