import { expect, it } from 'vitest';
import { testClientConformance } from '../../src/conformance/clients/test-client-conformance.ts';
import { ownClient } from './own-client.ts';

it('violates only the order of interfaces, where it prefers HTTP to gRPC', async () => {
  const { results, variants } = await testClientConformance(ownClient, { timeout: 120_000 });
  expect(variants).toHaveLength(7);
  const undecided = results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
  expect(undecided.map(({ rule, version, message }) => [rule.id, version, message])).toEqual([
    ['client-card.order', '1.0', 'The client did not use the first interface of the card.'],
    ['client-card.preferred', '0.3', 'The client did not use the first interface of the card.'],
  ]);
}, 600_000);
