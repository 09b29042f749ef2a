import { describe, it } from 'vitest';
import { MemoryBroker } from '../../src/mesh/brokers/memory/memory-broker.ts';
import { connectMemoryBroker } from '../../src/mesh/brokers/memory/connect-memory.ts';
import { connectMqtt } from '../../src/mesh/brokers/mqtt/connect-mqtt.ts';
import { connectNats } from '../../src/mesh/brokers/nats/connect-nats.ts';
import { type TestBroker, mosquitto, natsServer, startMosquitto, startNats } from '../support/mesh/broker.ts';
import { natsSurvivesKill, readNatsVersion } from '../support/mesh/nats-version.ts';
import { type TcpRelay, startTcpRelay } from '../support/http/tcp-relay.ts';
import { describeLink, type LinkBench } from './broker-connection.ts';

describeLink(
  'within the process',
  async () => {
    const broker = new MemoryBroker();
    return {
      open: async () => connectMemoryBroker({ broker }),
      openMortal: async () => {
        const link = connectMemoryBroker({ broker });
        return { link, kill: () => link.simulateCrash() };
      },
      remove: async () => {},
    };
  },
  { rejectsSecondSubscriber: true, redistributes: true },
);

/** Creates connections to a real broker. Clients that the test disconnects use a relay. */
function benchOf(
  broker: TestBroker,
  end: 'kill' | 'stop',
  open: (url: string) => ReturnType<LinkBench['open']>,
): LinkBench {
  const relays: TcpRelay[] = [];
  return {
    open: () => open(broker.url),
    openMortal: async () => {
      const relay = await startTcpRelay(broker.port);
      relays.push(relay);
      const link = await open(broker.url.replace(String(broker.port), String(relay.port)));
      return { link, kill: () => relay.disconnect() };
    },
    restart: async (meanwhile) => {
      await broker[end]();
      await meanwhile();
      await broker.restart();
    },
    remove: async () => {
      await Promise.all(relays.map((relay) => relay.remove()));
      await broker.remove();
    },
  };
}

const pauses = { minDelay: 10, maxDelay: 100, connectTimeout: 60_000 };

if (mosquitto === undefined) {
  describe('BrokerConnection over MQTT', () => it.skip('needs Mosquitto', () => {}));
} else {
  describeLink(
    'over MQTT',
    async () => {
      // By default Mosquitto drops messages of a session beyond 1,000.
      const lines = ['persistence true', 'persistence_location {folder}/', 'max_queued_messages 0'];
      const broker = await startMosquitto({ lines });
      return benchOf(broker, 'stop', (url) => connectMqtt(url, { ...pauses, closeTimeout: 500 }));
    },
    // Mosquitto acknowledges messages before it has written them to disk, so a killed one may lose them.
    { rejectsSecondSubscriber: false, redistributes: false, survives: 'stop' },
  );
}

if (natsServer === undefined) {
  describe('BrokerConnection over NATS', () => it.skip('needs nats-server', () => {}));
} else {
  const survives = natsSurvivesKill(readNatsVersion(natsServer)) ? 'kill' : 'stop';
  describeLink(
    'over NATS',
    async () => {
      const broker = await startNats();
      return benchOf(broker, survives, (url) =>
        connectNats(url, { ...pauses, ackWait: 1_000, closeTimeout: 500 }),
      );
    },
    { rejectsSecondSubscriber: true, redistributes: true, survives },
  );
}
