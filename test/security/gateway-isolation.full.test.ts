import { it } from 'vitest';
import { checkGatewayIsolation } from '../support/gateway/gateway-isolation.ts';

it('shows no owner the tasks, contexts or texts of another in 100 random runs', {
  timeout: 900_000,
}, async () => {
  await checkGatewayIsolation({ numRuns: 100 });
});

it('shows each owner its own tasks only through two gateways, in 50 random runs', {
  timeout: 900_000,
}, async () => {
  await checkGatewayIsolation({ numRuns: 50 }, 2);
});
