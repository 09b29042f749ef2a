import { it } from 'vitest';
import { checkGatewayIsolation } from '../support/gateway/gateway-isolation.ts';

it('shows no owner the tasks, contexts or texts of another, whatever ids they share', async () => {
  // The same calls in every run; random ones are in the second tier.
  await checkGatewayIsolation({ numRuns: 5, seed: 1, endOnFailure: true });
});

it('shows each owner its own tasks only through two gateways that share a store', async () => {
  await checkGatewayIsolation({ numRuns: 5, seed: 2, endOnFailure: true }, 2);
});
