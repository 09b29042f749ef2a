import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { type TestBroker, mosquitto, startMosquitto } from '../../../../test/support/mesh/broker.ts';
import { createAuthority, hasOpenssl } from '../../../../test/support/http/certificates.ts';
import { Collector, Latch, numberTexts } from '../../../../test/support/collector.ts';
import type { MeshMessage, BrokerConnection } from '../broker-connection.ts';
import type { MqttOptions } from './mqtt-options.ts';
import { connectMqtt } from './connect-mqtt.ts';

const brokers: TestBroker[] = [];
const connections: BrokerConnection[] = [];
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await Promise.all(brokers.splice(0).map((broker) => broker.remove()));
});

async function startBroker(...options: Parameters<typeof startMosquitto>): Promise<TestBroker> {
  const broker = await startMosquitto(...options);
  brokers.push(broker);
  return broker;
}

async function connectTo(broker: TestBroker, options: MqttOptions = {}): Promise<BrokerConnection> {
  const connection = await connectMqtt(broker.url, {
    minDelay: 10,
    maxDelay: 100,
    connectTimeout: 120_000,
    closeTimeout: 500,
    ...options,
  });
  connections.push(connection);
  return connection;
}

const sorted = (payloads: string[]): string[] => payloads.toSorted((a, b) => Number(a) - Number(b));

describe.skipIf(mosquitto === undefined)('connectMqtt with default Mosquitto', () => {
  it('delivers 5,000 messages to a slow subscriber if the broker retains as many', async () => {
    const broker = await startBroker({ lines: ['max_queued_messages 0'] });
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    const received = new Collector();
    const work = async (delivery: MeshMessage): Promise<void> => {
      await new Promise(setImmediate);
      received.add(delivery);
    };
    await two.subscribe('a/>', work, { queue: 'q', concurrency: 4 });
    await Promise.all(numberTexts(5_000).map((number) => one.publish('a/b', number)));
    await received.waitForCount(5_000);
    expect(received.payloads).toEqual(numberTexts(5_000));
  });

  it('restores subscriptions and delivers unpublished messages when a broker was killed without saving', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    const received = new Collector();
    await two.subscribe('a/>', received.add, { queue: 'q' });
    await two.subscribe('b/>', received.add);
    await two.subscribe('c/>', received.add, { queue: 'shared', shared: true });
    await broker.kill();
    const published = ['a/1', 'b/1', 'c/1'].map((topic) => one.publish(topic, topic));
    await broker.restart();
    await Promise.all(published);
    await received.waitForCount(3);
    expect(received.payloads.toSorted()).toEqual(['a/1', 'b/1', 'c/1']);
  });

  it('delivers a message after a restart whose subscriber returns later than the publisher', async () => {
    const broker = await startBroker();
    const one = await connectTo(broker, { minDelay: 1, maxDelay: 1 });
    await broker.kill();
    await broker.restart();
    const received = new Collector();
    const early = await connectTo(broker);
    await early.subscribe('early', () => {});
    const published = one.publish('late', '1');
    // The broker acknowledges in order: it has had no subscriber for the first message.
    await one.publish('early', '2');
    const late = await connectTo(broker);
    await late.subscribe('late', received.add);
    await published;
    await received.waitForCount(1);
  });

  describe('shared queue', () => {
    const shared = { queue: 'q', shared: true };

    it('processes all messages that were assigned to a member when it closes', async () => {
      const broker = await startBroker();
      const [one, two] = [await connectTo(broker), await connectTo(broker)];
      const [begun, received, byTwo] = [new Collector(), new Collector(), new Collector()];
      const latch = new Latch();
      const work = async (delivery: MeshMessage): Promise<void> => {
        begun.add(delivery);
        await latch.opened;
        received.add(delivery);
      };
      const leaving = await one.subscribe('a', work, { ...shared, concurrency: 2 });
      await two.subscribe('a', byTwo.add, shared);
      for (const number of numberTexts(20)) await two.publish('a', number);
      await begun.waitForCount(2);
      const closed = leaving.close();
      latch.open();
      await closed;
      for (const number of numberTexts(30).slice(20)) await two.publish('a', number);
      await byTwo.waitForCount(20);
      expect(received.all).toHaveLength(10);
      expect(sorted([...byTwo.payloads, ...received.payloads])).toEqual(numberTexts(30));
    });

    it('keeps its messages while a member with a client id is closed', async () => {
      const broker = await startBroker();
      const publisher = await connectTo(broker);
      const first = await connectTo(broker, { clientId: 'replica-1' });
      await first.subscribe('a', () => {}, shared);
      await first.close();
      await publisher.publish('a', '1');
      const received = new Collector();
      const again = await connectTo(broker, { clientId: 'replica-1' });
      await again.subscribe('a', received.add, shared);
      await received.waitForCount(1);
    });
  });

  it('exchanges messages with other MQTT clients, with properties as text', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker);
    const stranger = await connectAsync(broker.url, { protocolVersion: 5 });
    try {
      const received = new Collector();
      await connection.subscribe('ours/>', received.add, { queue: 'q' });
      const userProperties = { replyTo: 'x', callDepth: '3', a2aUserConfig: '{"a":1}' };
      await stranger.publishAsync('ours/a', '{}', { qos: 1, properties: { userProperties } });
      await stranger.publishAsync('ours', 'not one level more', { qos: 1 });
      await stranger.publishAsync('ours/b', 'again', { qos: 1 });
      await stranger.publishAsync('ours/b', 'again', { qos: 1 });
      await received.waitForCount(3);
      expect(received.all.map(({ payload, properties }) => [payload, properties])).toEqual([
        ['{}', userProperties],
        ['again', {}],
        ['again', {}],
      ]);
      const published = new Promise<[string, unknown]>((resolve) => {
        stranger.once('message', (topic, _payload, packet) =>
          resolve([topic, packet.properties?.userProperties]),
        );
      });
      await stranger.subscribeAsync('theirs/#', { qos: 1 });
      await connection.publish('theirs/a', '{}', { clientId: 'c', a2aUserConfig: { a: 1 }, callDepth: 3 });
      expect(await published).toEqual([
        'theirs/a',
        {
          clientId: 'c',
          a2aUserConfig: '{"a":1}',
          callDepth: '3',
          'dragoman-json': '["a2aUserConfig","callDepth"]',
          'dragoman-id': expect.stringMatching(/^\w+:\d+$/),
        },
      ]);
    } finally {
      await stranger.endAsync();
    }
  });

  it('reports a conflict if two subscribers of an exclusive queue disconnect each other, and loses nothing', async () => {
    const broker = await startBroker();
    const errors = new Collector<unknown>();
    const received = new Collector();
    const both = await Promise.all([
      connectTo(broker, { onError: errors.add }),
      connectTo(broker, { onError: errors.add }),
    ]);
    for (const connection of both) await connection.subscribe('a', received.add, { queue: 'q' });
    const [error] = await errors.waitForCount(1);
    expect(error).toMatchObject({ reason: 'CONFLICT', hint: expect.stringContaining('shared') });
    await both[0].publish('a', '1');
    await received.waitForCount(1);
  });

  it('delivers queued messages that match the new patterns of a queue', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    await (await two.subscribe(['a/>', 'b'], () => {}, { queue: 'q' })).close();
    for (const topic of ['a/1', 'b', 'a/2']) await one.publish(topic, topic);
    const received = new Collector();
    await two.subscribe(['a/*', 'c'], received.add, { queue: 'q' });
    for (const topic of ['b', 'c', 'b', 'b', 'b', 'b', 'a/3']) await one.publish(topic, topic);
    await received.waitForCount(4);
    expect(received.payloads).toEqual(['a/1', 'a/2', 'c', 'a/3']);
  });

  it('connects over WebSocket', async () => {
    const connection = await connectTo(await startBroker({ isWebSocket: true }));
    const received = new Collector();
    await connection.subscribe('a', received.add, { queue: 'q' });
    await connection.publish('a', 'x'.repeat(100_000));
    expect((await received.waitForCount(1))[0]?.payload).toHaveLength(100_000);
  });

  it.skipIf(!hasOpenssl())(
    'goes over TLS to a broker that it trusts, and knows what to do about others',
    async () => {
      const trusted = createAuthority('broker');
      const { ca, server } = trusted;
      const broker = await startBroker({
        lines: [
          'cafile {folder}/ca.pem',
          'certfile {folder}/cert.pem',
          'keyfile {folder}/key.pem',
          'require_certificate true',
        ],
        files: { 'ca.pem': ca, 'cert.pem': server.cert, 'key.pem': server.key },
      });
      const url = broker.url.replace('mqtt:', 'mqtts:').replace('127.0.0.1', 'localhost');
      const connection = await connectMqtt(url, { tls: { ca, ...trusted.client('alice') } });
      await connection.publish('a', '');
      await connection.close();
      await expect(connectMqtt(url, { connectTimeout: 1_000 })).rejects.toMatchObject({
        reason: 'PERMISSION_DENIED',
        hint: expect.stringContaining('tls.ca'),
      });
    },
  );

  it('rejects a message that exceeds the size limit of the broker', async () => {
    const broker = await startBroker({ lines: ['max_packet_size 10000'] });
    const connection = await connectTo(broker);
    const tooLarge = { reason: 'PAYLOAD_TOO_LARGE', hint: expect.stringContaining('artifact') };
    await expect(connection.publish('a', 'x'.repeat(10_000))).rejects.toMatchObject(tooLarge);
    await connection.publish('a', 'x'.repeat(1_000));
  });

  it('authenticates with a password and rejects a wrong one', async () => {
    const broker = await startBroker({ users: { alice: 'secret' } });
    await connectTo(broker, { username: 'alice', password: 'secret' });
    const wrong = connectMqtt(broker.url, { username: 'alice', password: 'wrong' });
    await expect(wrong).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining(`mqtt://127.0.0.1:${broker.port}`),
      hint: expect.stringContaining('password'),
    });
    const inside = connectMqtt(broker.url.replace('//', '//alice:wrong@'));
    await expect(inside).rejects.not.toThrow('wrong@');
  });

  it('rejects with UNAVAILABLE when the connection is refused', async () => {
    const broker = await startBroker();
    await broker.kill();
    await expect(connectMqtt(broker.url, { connectTimeout: 300, minDelay: 1 })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringContaining('broker runs'),
    });
  });

  it('waits for a broker that is starting', async () => {
    const broker = await startBroker();
    await broker.kill();
    const [connection] = await Promise.all([connectTo(broker), broker.restart()]);
    expect(connection.state).toBe('up');
  });
});

describe('connectMqtt options', () => {
  it.each(['', 'localhost:1883', 'http://localhost'])('reject the URL %j', async (url) => {
    await expect(connectMqtt(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
