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
    closeTimeout: 500,
    ...options,
  });
  connections.push(connection);
  return connection;
}

const sorted = (payloads: string[]): string[] => payloads.toSorted((a, b) => Number(a) - Number(b));

describe.skipIf(mosquitto === undefined)('connectMqtt with default Mosquitto', () => {
  it('delivers 5,000 messages to a slow subscriber', async () => {
    const broker = await startBroker();
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
    expect(broker.output).not.toContain('dropped');
  });

  it('delivers 5,000 messages to a reconnecting subscriber and applies backpressure to the publisher', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    let stored = 0;
    const published = numberTexts(5_000).map((number) => one.publish('a/b', number).then(() => stored++));
    await Promise.all(published.slice(0, 256));
    // A message after them proves that no more were published.
    const mark = new Collector();
    await one.subscribe('mark', mark.add);
    await one.publish('mark', '');
    await mark.waitForCount(1);
    expect(stored).toBe(256);
    const received = new Collector();
    await two.subscribe('a/>', received.add, { queue: 'q' });
    await Promise.all(published);
    await received.waitForCount(5_000);
    expect(received.payloads).toEqual(numberTexts(5_000));
    expect(broker.output).not.toContain('dropped');
  });

  it('redelivers messages that the broker dropped because of many publishers', async () => {
    const broker = await startBroker();
    const subscriber = await connectTo(broker);
    const publishers = await Promise.all(numberTexts(8).map(() => connectTo(broker)));
    await (await subscriber.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(
      numberTexts(2_000).map(async (number) => publishers[Number(number) % 8]?.publish('a/b', number)),
    );
    expect(broker.output).toContain('Outgoing messages are being dropped');
    const received = new Collector();
    await subscriber.subscribe('a/>', received.add, { queue: 'q' });
    await received.waitForCount(2_000);
    expect(sorted(received.payloads)).toEqual(numberTexts(2_000));
  });

  it('redelivers messages that a killed broker lost', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(numberTexts(100).map((number) => one.publish('a/b', number)));
    await broker.kill();
    await broker.restart();
    const received = new Collector();
    await two.subscribe('a/>', received.add, { queue: 'q' });
    await received.waitForCount(100);
    expect(sorted(received.payloads)).toEqual(numberTexts(100));
  });

  it('does not block other topics when one queue is full', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker, { maxUnacknowledged: 1 });
    await (await connection.subscribe('a', () => {}, { queue: 'q' })).close();
    await connection.publish('a', '1');
    const waiting = expect(connection.publish('a', '2')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const received = new Collector();
    await connection.subscribe('b', received.add);
    await connection.publish('b', '3');
    await received.waitForCount(1);
    await connection.close();
    await waiting;
  });

  it('releases publishers when an unnamed subscriber has left', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker, { maxUnacknowledged: 2 }), await connectTo(broker)];
    const latch = new Latch();
    const begun = new Collector();
    const work = async (delivery: MeshMessage): Promise<void> => {
      begun.add(delivery);
      await latch.opened;
    };
    const slow = await two.subscribe('a', work, { concurrency: 1 });
    const published = Promise.all(numberTexts(10).map((number) => one.publish('a', number)));
    await begun.waitForCount(1);
    const closed = slow.close();
    latch.open();
    await closed;
    await published;
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

  it('gives a queue to one of two concurrent subscribers and reports the conflict to the other', async () => {
    const broker = await startBroker();
    const lost = new Collector<unknown>();
    const received = new Collector();
    const both = await Promise.all([
      connectTo(broker, { onError: lost.add }),
      connectTo(broker, { onError: lost.add }),
    ]);
    for (const connection of both) connection.subscribe('a', received.add, { queue: 'q' }).catch(lost.add);
    const [error] = await lost.waitForCount(1);
    expect(error).toMatchObject({ reason: 'CONFLICT', hint: expect.stringContaining('shared') });
    await both[0].publish('a', '1');
    await received.waitForCount(1);
    expect([lost.all.length, received.all.length]).toEqual([1, 1]);
  });

  it('delivers queued messages that match the new patterns of a queue', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker, { maxUnacknowledged: 4 }), await connectTo(broker)];
    await (await two.subscribe(['a/>', 'b'], () => {}, { queue: 'q' })).close();
    for (const topic of ['a/1', 'b', 'a/2']) await one.publish(topic, topic);
    const received = new Collector();
    await two.subscribe(['a/*', 'c'], received.add, { queue: 'q' });
    // Messages that match no pattern any more do not count as unfinished.
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

  it('rejects a message that exceeds the size limit of the broker, and control topics', async () => {
    const broker = await startBroker({ lines: ['max_packet_size 10000'] });
    const connection = await connectTo(broker);
    const tooLarge = { reason: 'PAYLOAD_TOO_LARGE', hint: expect.stringContaining('artifact') };
    await expect(connection.publish('a', 'x'.repeat(10_000))).rejects.toMatchObject(tooLarge);
    await connection.publish('a', 'x'.repeat(1_000));
    await expect(connection.publish('dragoman/control/peer/x', '')).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
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
