import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clientVariants } from '../../src/conformance/clients/detect-support.ts';
import { clientOperations } from '../../src/conformance/clients/client-under-test.ts';
import { testClientConformance } from '../../src/conformance/clients/test-client-conformance.ts';

/** Known violations of each SDK, with evidence in docs/interop.md. */
const clients = [
  {
    sdk: '0.2',
    version: '0.3',
    transports: ['JSONRPC'],
    violates: ['client-card.unknown-binding', 'client-error.meaningless', 'client-stream.line-ends'],
  },
  {
    sdk: '0.3',
    version: '0.3',
    transports: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    violates: ['client-error.meaningless', 'client-stream.data-lines', 'client-stream.line-ends'],
  },
  {
    sdk: '1.3',
    version: '1.0',
    transports: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    violates: ['client-stream.line-ends'],
  },
];

describe('official clients', () => {
  it.each(clients)(
    'finds the known violations of the client of SDK $sdk',
    async ({ sdk, version, transports, violates }) => {
      const harness = fileURLToPath(new URL(`fixtures/sdk-${sdk}-client.mjs`, import.meta.url));
      const outcome = await testClientConformance(
        { command: [process.execPath, harness, '{url}'], operations: clientOperations },
        {
          level: 'MUST',
          timeout: 120_000,
          maxTime: 1_800_000,
          variants: clientVariants.filter((variant) => variant.version === version),
        },
      );
      expect(outcome.variants.map(({ transport }) => transport)).toEqual(transports);
      const violated = outcome.results.filter(({ verdict }) => verdict === 'fail' || verdict === 'error');
      expect([...new Set(violated.map(({ rule }) => rule.id))].toSorted()).toEqual(violates);
    },
    1_800_000,
  );
});
