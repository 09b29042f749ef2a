import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';
import { type TestBroker, natsServer, startNats } from '../../../../test/support/mesh/broker.ts';
import { Collector, Latch, numberTexts } from '../../../../test/support/collector.ts';
import type { BrokerConnection } from '../broker-connection.ts';
import { type NatsOptions, connectNats } from './connect-nats.ts';

const brokers: TestBroker[] = [];
const connections: BrokerConnection[] = [];
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await Promise.all(brokers.splice(0).map((broker) => broker.remove()));
});

async function startBroker(...options: Parameters<typeof startNats>): Promise<TestBroker> {
  const broker = await startNats(...options);
  brokers.push(broker);
  return broker;
}

async function connectTo(broker: TestBroker, options: NatsOptions = {}): Promise<BrokerConnection> {
  const connection = await connectNats(broker.url, {
    minDelay: 10,
    maxDelay: 100,
    closeTimeout: 500,
    ...options,
  });
  connections.push(connection);
  return connection;
}

describe.skipIf(natsServer === undefined)('connectNats', () => {
  it('delivers 5,000 messages to a reconnecting subscriber', async () => {
    const broker = await startBroker();
    const [one, two] = [await connectTo(broker), await connectTo(broker)];
    await (await two.subscribe('a/>', () => {}, { queue: 'q' })).close();
    await Promise.all(numberTexts(5_000).map((number) => one.publish('a/b', number)));
    const received = new Collector();
    await two.subscribe('a/>', received.add, { queue: 'q' });
    await received.waitForCount(5_000);
    expect(received.payloads).toEqual(numberTexts(5_000));
  });

  it('applies backpressure to publishers when the stream is full', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker, { maxBytes: 20_000 });
    await (await connection.subscribe('a', () => {}, { queue: 'q' })).close();
    let stored = 0;
    const payload = 'x'.repeat(1_000);
    const published = numberTexts(60).map(() => connection.publish('a', payload).then(() => stored++));
    await Promise.all(published.slice(0, 10));
    expect(stored).toBeLessThan(20);
    const received = new Collector();
    await connection.subscribe('a', received.add, { queue: 'q' });
    await Promise.all(published);
    expect(await received.waitForCount(60)).toHaveLength(60);
  });

  it('delivers queued messages that match the new patterns of a queue', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker);
    await (await connection.subscribe('a/b', () => {}, { queue: 'q' })).close();
    for (const number of numberTexts(3)) await connection.publish('a/b', number);
    const received = new Collector();
    const wider = await connection.subscribe(['a/*', 'c'], received.add, { queue: 'q' });
    await connection.publish('c', '3');
    await received.waitForCount(4);
    expect(received.payloads).toEqual(numberTexts(4));
    await wider.close();
    await connection.subscribe('d', received.add, { queue: 'q' });
    await connection.publish('a/b', 'unwanted');
    await connection.publish('d', '4');
    await received.waitForCount(5);
    expect(received.payloads).toEqual(numberTexts(5));
  });

  it('extends the ack deadline while a message is processed', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker, { ackWait: 300 });
    const observer = await connect({ servers: `127.0.0.1:${broker.port}` });
    const [acks, started, latch] = [new Collector<string>(), new Collector(), new Latch()];
    observer.subscribe('$JS.ACK.>', { callback: (_error, message) => acks.add(message.string()) });
    await observer.flush();
    await connection.subscribe('a', async (message) => {
      started.add(message);
      await latch.opened;
    });
    await connection.publish('a', '1');
    // One is sent after each third of `ackWait`.
    await acks.waitForCount(6);
    latch.open();
    await acks.waitFor(() => acks.all.at(-1) === '+ACK');
    expect(started.all).toHaveLength(1);
    await observer.close();
  });

  it('connects several times at once to a server without the stream', async () => {
    const broker = await startBroker();
    const connections = await Promise.all(numberTexts(8).map(() => connectTo(broker)));
    expect(connections.map(({ state }) => state)).toEqual(connections.map(() => 'up'));
  });

  it('warns about servers before 2.10, and no others', async () => {
    const broker = await startBroker();
    const warnings: string[] = [];
    await connectTo(broker, { onWarning: (message) => warnings.push(message) });
    const other = await connect({ servers: broker.url });
    const { version = '' } = other.info ?? {};
    await other.close();
    const [, minor = ''] = version.split('.');
    expect(warnings).toEqual(
      Number(minor) < 10 ? [expect.stringContaining(`NATS server ${version} may lose messages`)] : [],
    );
  });

  it('receives messages of other NATS clients', async () => {
    const broker = await startBroker();
    const connection = await connectTo(broker);
    const received = new Collector();
    await connection.subscribe('a/*', received.add);
    const other = await connect({ servers: `127.0.0.1:${broker.port}` });
    other.publish('dragoman.a.b', 'hello');
    await other.flush();
    await received.waitForCount(1);
    expect(received.all[0]).toMatchObject({
      topic: 'a/b',
      payload: 'hello',
      properties: {},
      redelivered: false,
    });
    await other.close();
  });

  it('isolates namespaces', async () => {
    const broker = await startBroker();
    const [one, two] = [
      await connectTo(broker, { namespace: 'one' }),
      await connectTo(broker, { namespace: 'two' }),
    ];
    const [first, second] = [new Collector(), new Collector()];
    await one.subscribe('>', first.add);
    await two.subscribe('>', second.add);
    await one.publish('a', '1');
    await two.publish('a', '2');
    await Promise.all([first.waitForCount(1), second.waitForCount(1)]);
    expect([first.payloads, second.payloads]).toEqual([['1'], ['2']]);
  });

  it('rejects a message that exceeds max_payload', async () => {
    const connection = await connectTo(await startBroker());
    await expect(connection.publish('a', 'x'.repeat(1_100_000))).rejects.toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
      hint: expect.stringContaining('max_payload'),
    });
  });

  it('authenticates with a password and rejects a wrong one', async () => {
    const broker = await startBroker({ users: { name: 'alice', password: 'secret' } });
    await connectTo(broker, { username: 'alice', password: 'secret' });
    await expect(connectNats(broker.url, { username: 'alice', password: 'wrong' })).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('password'),
    });
  });

  it('rejects a server without JetStream', async () => {
    const broker = await startBroker({ hasStreams: false });
    await expect(connectNats(broker.url)).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      hint: expect.stringContaining('-js'),
    });
  });

  it('rejects with UNAVAILABLE when the connection is refused', async () => {
    const broker = await startBroker();
    await broker.kill();
    await expect(connectNats(broker.url, { connectTimeout: 1, minDelay: 1 })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      hint: expect.stringContaining('server runs'),
    });
  });
});

describe('connectNats options', () => {
  it.each(['', 'localhost:4222', 'mqtt://localhost'])('reject the URL %j', async (url) => {
    await expect(connectNats(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('reject a namespace that is not a stream name', async () => {
    await expect(connectNats('nats://localhost', { namespace: 'a.b' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });
});
