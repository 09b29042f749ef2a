import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';
import { type TestBroker, natsServer, startNats } from '../../../../test/support/mesh/broker.ts';
import { Collector, Latch, numberTexts } from '../../../../test/support/collector.ts';
import type { BrokerConnection } from '../broker-connection.ts';
import { type NatsOptions, connectNats } from './connect-nats.ts';

const brokers: TestBroker[] = [];
const links: BrokerConnection[] = [];
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
  await Promise.all(brokers.splice(0).map((broker) => broker.remove()));
});

async function start(...options: Parameters<typeof startNats>): Promise<TestBroker> {
  const broker = await startNats(...options);
  brokers.push(broker);
  return broker;
}

async function open(broker: TestBroker, options: NatsOptions = {}): Promise<BrokerConnection> {
  const link = await connectNats(broker.url, { minDelay: 10, maxDelay: 100, closeTimeout: 500, ...options });
  links.push(link);
  return link;
}

describe.skipIf(natsServer === undefined)('a link over NATS', () => {
  it('loses nothing of 5,000 messages to a subscriber that was away', async () => {
    const broker = await start();
    const [one, two] = [await open(broker), await open(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(numberTexts(5_000).map((number) => one.publish('a/b', number)));
    const got = new Collector();
    await two.subscribe('a/>', got.add, { queue: 'q' });
    await got.waitForCount(5_000);
    expect(got.payloads).toEqual(numberTexts(5_000));
  });

  it('makes whoever publishes wait when the stream is full', async () => {
    const broker = await start();
    const link = await open(broker, { maxBytes: 20_000 });
    await (await link.subscribe('a', () => {}, { queue: 'q' })).close();
    let stored = 0;
    const payload = 'x'.repeat(1_000);
    const published = numberTexts(60).map(() => link.publish('a', payload).then(() => stored++));
    await Promise.all(published.slice(0, 10));
    expect(stored).toBeLessThan(20);
    const got = new Collector();
    await link.subscribe('a', got.add, { queue: 'q' });
    await Promise.all(published);
    expect(await got.waitForCount(60)).toHaveLength(60);
  });

  it('takes over what waits in a queue that is for something else now', async () => {
    const broker = await start();
    const link = await open(broker);
    await (await link.subscribe('a/b', () => {}, { queue: 'q' })).close();
    for (const number of numberTexts(3)) await link.publish('a/b', number);
    const got = new Collector();
    const wider = await link.subscribe(['a/*', 'c'], got.add, { queue: 'q' });
    await link.publish('c', '3');
    await got.waitForCount(4);
    expect(got.payloads).toEqual(numberTexts(4));
    await wider.close();
    await link.subscribe('d', got.add, { queue: 'q' });
    await link.publish('a/b', 'nobody wants this');
    await link.publish('d', '4');
    await got.waitForCount(5);
    expect(got.payloads).toEqual(numberTexts(5));
  });

  it('tells the server that long work goes on, so that nobody else gets it', async () => {
    const broker = await start();
    const link = await open(broker, { ackWait: 300 });
    const watcher = await connect({ servers: `127.0.0.1:${broker.port}` });
    const [words, begun, gate] = [new Collector<string>(), new Collector(), new Latch()];
    watcher.subscribe('$JS.ACK.>', { callback: (_error, message) => words.add(message.string()) });
    await watcher.flush();
    await link.subscribe('a', async (delivery) => {
      begun.add(delivery);
      await gate.opened;
    });
    await link.publish('a', '1');
    // Each comes after a third of the time after which it would be delivered again.
    await words.waitForCount(6);
    gate.open();
    await words.waitForCount(7);
    expect(words.all.at(-1)).toBe('+ACK');
    expect(begun.all).toHaveLength(1);
    await watcher.close();
  });

  it('reads what a stranger publishes', async () => {
    const broker = await start();
    const link = await open(broker);
    const got = new Collector();
    await link.subscribe('a/*', got.add);
    const stranger = await connect({ servers: `127.0.0.1:${broker.port}` });
    stranger.publish('dragoman.a.b', 'hello');
    await stranger.flush();
    await got.waitForCount(1);
    expect(got.all[0]).toEqual({ topic: 'a/b', payload: 'hello', properties: {}, redelivered: false });
    await stranger.close();
  });

  it('keeps namespaces apart', async () => {
    const broker = await start();
    const [one, two] = [await open(broker, { namespace: 'one' }), await open(broker, { namespace: 'two' })];
    const [first, second] = [new Collector(), new Collector()];
    await one.subscribe('>', first.add);
    await two.subscribe('>', second.add);
    await one.publish('a', '1');
    await two.publish('a', '2');
    await Promise.all([first.waitForCount(1), second.waitForCount(1)]);
    expect([first.payloads, second.payloads]).toEqual([['1'], ['2']]);
  });

  it('refuses a message that is larger than the server takes', async () => {
    const link = await open(await start());
    await expect(link.publish('a', 'x'.repeat(1_100_000))).rejects.toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
      hint: expect.stringContaining('max_payload'),
    });
  });

  it('lets users in who know the password, and tells others what to do', async () => {
    const broker = await start({ users: { name: 'alice', password: 'secret' } });
    await open(broker, { username: 'alice', password: 'secret' });
    await expect(connectNats(broker.url, { username: 'alice', password: 'wrong' })).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('password'),
    });
  });

  it('says what is missing when the server has no JetStream', async () => {
    const broker = await start({ hasStreams: false });
    await expect(connectNats(broker.url)).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      hint: expect.stringContaining('-js'),
    });
  });

  it('says that nobody is there', async () => {
    const broker = await start();
    await broker.kill();
    await expect(connectNats(broker.url, { connectTimeout: 1, minDelay: 1 })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      hint: expect.stringContaining('server runs'),
    });
  });
});

describe('the address of a NATS server', () => {
  it.each(['', 'localhost:4222', 'mqtt://localhost'])('is not %j', async (url) => {
    await expect(connectNats(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('comes with a namespace that can be a name of a stream', async () => {
    await expect(connectNats('nats://localhost', { namespace: 'a.b' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });
});
