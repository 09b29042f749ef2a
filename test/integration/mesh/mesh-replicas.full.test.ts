import { describe, it } from 'vitest';
import { startNats } from '../../support/mesh/broker.ts';
import { natsReleases } from '../../support/mesh/nats-releases.ts';
import { brokers, openGatewayReplicas } from './gateway-replicas.ts';

const [mosquittoBroker] = brokers;

describe.each([
  mosquittoBroker,
  ...natsReleases.map(
    ([version, program]) => [`NATS ${version}`, program, () => startNats({ program })] as const,
  ),
])('two gateways that share a queue on %s', (_name, program, start) => {
  it.skipIf(program === undefined)(
    'answer each request once, also while one of them closes and when the broker is restarted',
    async () => {
      const { broker, startGateway, ask, expectOneAnswerEach } = await openGatewayReplicas(start);
      const [first] = await Promise.all([startGateway(1), startGateway(2)]);
      await ask(0, 30);
      await Promise.all([first?.stop(0), ask(30, 60)]);
      await startGateway(1);
      await expectOneAnswerEach(60);
      await broker.stop();
      const published = ask(60, 90);
      await broker.restart();
      await published;
      await expectOneAnswerEach(90);
    },
  );
});
