import { describe, it } from 'vitest';
import { brokers, openGatewayReplicas } from './gateway-replicas.ts';

describe.each(brokers)('two gateways that share a queue on %s', (_name, program, start) => {
  it.skipIf(program === undefined)('answer each request once', async () => {
    const { startGateway, ask, expectOneAnswerEach } = await openGatewayReplicas(start);
    await Promise.all([startGateway(1), startGateway(2)]);
    await ask(0, 30);
    await expectOneAnswerEach(30);
  });
});
