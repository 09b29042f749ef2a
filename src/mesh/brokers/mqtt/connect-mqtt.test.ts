import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { type TestBroker, mosquitto, startMosquitto } from '../../../../test/support/mesh/broker.ts';
import { createAuthority, hasOpenssl } from '../../../../test/support/http/certificates.ts';
import { Collector, Latch, numberTexts } from '../../../../test/support/collector.ts';
import type { MeshMessage, BrokerConnection } from '../broker-connection.ts';
import type { MqttOptions } from './mqtt-options.ts';
import { connectMqtt } from './connect-mqtt.ts';

const brokers: TestBroker[] = [];
const links: BrokerConnection[] = [];
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
  await Promise.all(brokers.splice(0).map((broker) => broker.remove()));
});

async function start(...options: Parameters<typeof startMosquitto>): Promise<TestBroker> {
  const broker = await startMosquitto(...options);
  brokers.push(broker);
  return broker;
}

async function open(broker: TestBroker, options: MqttOptions = {}): Promise<BrokerConnection> {
  const link = await connectMqtt(broker.url, { minDelay: 10, maxDelay: 100, closeTimeout: 500, ...options });
  links.push(link);
  return link;
}

const sorted = (payloads: string[]): string[] => payloads.toSorted((a, b) => Number(a) - Number(b));

describe.skipIf(mosquitto === undefined)('a link to a Mosquitto that nobody configured', () => {
  it('loses nothing of 5,000 messages to a slow subscriber', async () => {
    const broker = await start();
    const [one, two] = [await open(broker), await open(broker)];
    const got = new Collector();
    const work = async (delivery: MeshMessage): Promise<void> => {
      await new Promise(setImmediate);
      got.add(delivery);
    };
    await two.subscribe('a/>', work, { queue: 'q', concurrency: 4 });
    await Promise.all(numberTexts(5_000).map((number) => one.publish('a/b', number)));
    await got.waitForCount(5_000);
    expect(got.payloads).toEqual(numberTexts(5_000));
    expect(broker.output).not.toContain('dropped');
  });

  it('loses nothing of 5,000 messages to a subscriber that was away, and makes their publisher wait', async () => {
    const broker = await start();
    const [one, two] = [await open(broker), await open(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    let stored = 0;
    const published = numberTexts(5_000).map((number) => one.publish('a/b', number).then(() => stored++));
    await Promise.all(published.slice(0, 256));
    // What goes round behind them shows that no more were published.
    const mark = new Collector();
    await one.subscribe('mark', mark.add);
    await one.publish('mark', '');
    await mark.waitForCount(1);
    expect(stored).toBe(256);
    const got = new Collector();
    await two.subscribe('a/>', got.add, { queue: 'q' });
    await Promise.all(published);
    await got.waitForCount(5_000);
    expect(got.payloads).toEqual(numberTexts(5_000));
    expect(broker.output).not.toContain('dropped');
  });

  it('sends again what the broker dropped because there were too many publishers', async () => {
    const broker = await start();
    const subscriber = await open(broker);
    const publishers = await Promise.all(numberTexts(8).map(() => open(broker)));
    await (await subscriber.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(
      numberTexts(2_000).map(async (number) => publishers[Number(number) % 8]?.publish('a/b', number)),
    );
    expect(broker.output).toContain('Outgoing messages are being dropped');
    const got = new Collector();
    await subscriber.subscribe('a/>', got.add, { queue: 'q' });
    await got.waitForCount(2_000);
    expect(sorted(got.payloads)).toEqual(numberTexts(2_000));
  });

  it('sends again what the broker forgot when it was killed', async () => {
    const broker = await start();
    const [one, two] = [await open(broker), await open(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(numberTexts(100).map((number) => one.publish('a/b', number)));
    await broker.kill();
    await broker.restart();
    const got = new Collector();
    await two.subscribe('a/>', got.add, { queue: 'q' });
    await got.waitForCount(100);
    expect(sorted(got.payloads)).toEqual(numberTexts(100));
  });

  it('does not hold back what is for others when one queue is full', async () => {
    const broker = await start();
    const link = await open(broker, { maxUnacknowledged: 1 });
    await (await link.subscribe('a', () => {}, { queue: 'q' })).close();
    await link.publish('a', '1');
    const waiting = expect(link.publish('a', '2')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const got = new Collector();
    await link.subscribe('b', got.add);
    await link.publish('b', '3');
    await got.waitForCount(1);
    await link.close();
    await waiting;
  });

  it('lets publishers go on when a subscriber without a queue has left', async () => {
    const broker = await start();
    const [one, two] = [await open(broker, { maxUnacknowledged: 2 }), await open(broker)];
    const gate = new Latch();
    const begun = new Collector();
    const work = async (delivery: MeshMessage): Promise<void> => {
      begun.add(delivery);
      await gate.opened;
    };
    const slow = await two.subscribe('a', work, { concurrency: 1 });
    const published = Promise.all(numberTexts(10).map((number) => one.publish('a', number)));
    await begun.waitForCount(1);
    const closed = slow.close();
    gate.open();
    await closed;
    await published;
  });

  it('takes what a stranger sends, with properties as text, and is understood by it', async () => {
    const broker = await start();
    const link = await open(broker);
    const stranger = await connectAsync(broker.url, { protocolVersion: 5 });
    try {
      const got = new Collector();
      await link.subscribe('ours/>', got.add, { queue: 'q' });
      const userProperties = { replyTo: 'x', callDepth: '3', a2aUserConfig: '{"a":1}' };
      await stranger.publishAsync('ours/a', '{}', { qos: 1, properties: { userProperties } });
      await stranger.publishAsync('ours', 'not one level more', { qos: 1 });
      await stranger.publishAsync('ours/b', 'again', { qos: 1 });
      await stranger.publishAsync('ours/b', 'again', { qos: 1 });
      await got.waitForCount(3);
      expect(got.all.map(({ payload, properties }) => [payload, properties])).toEqual([
        ['{}', userProperties],
        ['again', {}],
        ['again', {}],
      ]);
      const heard = new Promise<[string, unknown]>((resolve) => {
        stranger.once('message', (topic, _payload, packet) =>
          resolve([topic, packet.properties?.userProperties]),
        );
      });
      await stranger.subscribeAsync('theirs/#', { qos: 1 });
      await link.publish('theirs/a', '{}', { clientId: 'c', a2aUserConfig: { a: 1 }, callDepth: 3 });
      expect(await heard).toEqual([
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

  it('leaves a queue to one of two who wanted it at the same moment, and says so to the other', async () => {
    const broker = await start();
    const lost = new Collector<unknown>();
    const got = new Collector();
    const both = await Promise.all([
      open(broker, { onError: lost.add }),
      open(broker, { onError: lost.add }),
    ]);
    for (const link of both) link.subscribe('a', got.add, { queue: 'q' }).catch(lost.add);
    const [error] = await lost.waitForCount(1);
    expect(error).toMatchObject({ reason: 'CONFLICT', hint: expect.stringContaining('shared') });
    await both[0].publish('a', '1');
    await got.waitForCount(1);
    expect([lost.all.length, got.all.length]).toEqual([1, 1]);
  });

  it('takes over what waits in a queue that is for something else now', async () => {
    const broker = await start();
    const [one, two] = [await open(broker, { maxUnacknowledged: 4 }), await open(broker)];
    await (await two.subscribe(['a/>', 'b'], () => {}, { queue: 'q' })).close();
    for (const topic of ['a/1', 'b', 'a/2']) await one.publish(topic, topic);
    const got = new Collector();
    await two.subscribe(['a/*', 'c'], got.add, { queue: 'q' });
    // What nobody wants any more does not count as something that the queue is behind with.
    for (const topic of ['b', 'c', 'b', 'b', 'b', 'b', 'a/3']) await one.publish(topic, topic);
    await got.waitForCount(4);
    expect(got.payloads).toEqual(['a/1', 'a/2', 'c', 'a/3']);
  });

  it('goes over WebSocket', async () => {
    const link = await open(await start({ isWebSocket: true }));
    const got = new Collector();
    await link.subscribe('a', got.add, { queue: 'q' });
    await link.publish('a', 'x'.repeat(100_000));
    expect((await got.waitForCount(1))[0]?.payload).toHaveLength(100_000);
  });

  it.skipIf(!hasOpenssl())(
    'goes over TLS to a broker that it trusts, and knows what to do about others',
    async () => {
      const trusted = createAuthority('broker');
      const { ca, server } = trusted;
      const broker = await start({
        lines: [
          'cafile {folder}/ca.pem',
          'certfile {folder}/cert.pem',
          'keyfile {folder}/key.pem',
          'require_certificate true',
        ],
        files: { 'ca.pem': ca, 'cert.pem': server.cert, 'key.pem': server.key },
      });
      const url = broker.url.replace('mqtt:', 'mqtts:').replace('127.0.0.1', 'localhost');
      const link = await connectMqtt(url, { tls: { ca, ...trusted.client('alice') } });
      await link.publish('a', '');
      await link.close();
      await expect(connectMqtt(url, { connectTimeout: 1_000 })).rejects.toMatchObject({
        reason: 'PERMISSION_DENIED',
        hint: expect.stringContaining('tls.ca'),
      });
    },
  );

  it('refuses a message that is larger than the broker takes', async () => {
    const broker = await start({ lines: ['max_packet_size 10000'] });
    const link = await open(broker);
    const refusal = { reason: 'PAYLOAD_TOO_LARGE', hint: expect.stringContaining('artifact') };
    await expect(link.publish('a', 'x'.repeat(10_000))).rejects.toMatchObject(refusal);
    await link.publish('a', 'x'.repeat(1_000));
    await expect(link.publish('dragoman/link/peer/x', '')).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });

  it('lets users in who know the password, and tells others what to do', async () => {
    const broker = await start({ users: { alice: 'secret' } });
    await open(broker, { username: 'alice', password: 'secret' });
    const wrong = connectMqtt(broker.url, { username: 'alice', password: 'wrong' });
    await expect(wrong).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining(`mqtt://127.0.0.1:${broker.port}`),
      hint: expect.stringContaining('password'),
    });
    const inside = connectMqtt(broker.url.replace('//', '//alice:wrong@'));
    await expect(inside).rejects.not.toThrow('wrong@');
  });

  it('says that nobody is there', async () => {
    const broker = await start();
    await broker.kill();
    await expect(connectMqtt(broker.url, { connectTimeout: 300, minDelay: 1 })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringContaining('broker runs'),
    });
  });

  it('waits for a broker that is about to start', async () => {
    const broker = await start();
    await broker.kill();
    const [link] = await Promise.all([open(broker), broker.restart()]);
    expect(link.state).toBe('up');
  });
});

describe('a link over MQTT', () => {
  it.each(['', 'localhost:1883', 'http://localhost'])('refuses the address %j', async (url) => {
    await expect(connectMqtt(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
