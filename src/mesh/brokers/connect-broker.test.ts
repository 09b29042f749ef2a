import { describe, expect, it } from 'vitest';
import { Collector } from '../../../test/support/collector.ts';
import { connectBroker } from './connect-broker.ts';

describe('connectBroker', () => {
  it('connects memory URLs of the same name in one process', async () => {
    const [one, two, other] = [
      await connectBroker('memory:'),
      await connectBroker('memory:'),
      await connectBroker('memory:x'),
    ];
    const [received, nothing] = [new Collector(), new Collector()];
    await two.subscribe('>', received.add);
    await other.subscribe('>', nothing.add);
    await one.publish('a', '1');
    await received.waitForCount(1);
    await Promise.all([one.close(), two.close(), other.close()]);
    expect(nothing.all).toEqual([]);
  });

  it('removes a memory broker when its last connection is closed', async () => {
    const first = await connectBroker('memory:');
    await (await first.subscribe('a', () => {}, { queue: 'q' })).close();
    await first.publish('a', 'old');
    await first.close();
    await using second = await connectBroker('memory:');
    const received = new Collector();
    await second.subscribe('a', received.add, { queue: 'q' });
    await second.publish('a', 'new');
    await received.waitForCount(1);
    expect(received.payloads).toEqual(['new']);
  });

  it.each([
    ['mqtt://user:secret@127.0.0.1:1', 'mqtt://127.0.0.1:1'],
    ['ws://127.0.0.1:1', 'ws://127.0.0.1:1'],
    ['nats://user:secret@127.0.0.1:1', 'nats://127.0.0.1:1'],
  ])('connects to %s and omits credentials from errors', async (url, address) => {
    const connecting = connectBroker(url, { connectTimeout: 1, minDelay: 1 });
    await expect(connecting).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining(address),
    });
  });

  it.each(['', 'amqp://x', 'broker'])('rejects %j', async (url) => {
    await expect(connectBroker(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
