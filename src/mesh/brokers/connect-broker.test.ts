import { describe, expect, it } from 'vitest';
import { Collector } from '../../../test/support/collector.ts';
import { connectBroker } from './connect-broker.ts';

describe('openLink', () => {
  it('lets links of one process with the same address meet, and others not', async () => {
    const [one, two, other] = [
      await connectBroker('memory:'),
      await connectBroker('memory:'),
      await connectBroker('memory:x'),
    ];
    const [got, nothing] = [new Collector(), new Collector()];
    await two.subscribe('>', got.add);
    await other.subscribe('>', nothing.add);
    await one.publish('a', '1');
    await got.waitForCount(1);
    await Promise.all([one.close(), two.close(), other.close()]);
    expect(nothing.all).toEqual([]);
  });

  it('forgets a broker when its last link is closed', async () => {
    const first = await connectBroker('memory:');
    await (await first.subscribe('a', () => {}, { queue: 'q' })).close();
    await first.publish('a', 'old');
    await first.close();
    await using second = await connectBroker('memory:');
    const got = new Collector();
    await second.subscribe('a', got.add, { queue: 'q' });
    await second.publish('a', 'new');
    await got.waitForCount(1);
    expect(got.payloads).toEqual(['new']);
  });

  it.each([
    ['mqtt://user:secret@127.0.0.1:1', 'mqtt://127.0.0.1:1'],
    ['ws://127.0.0.1:1', 'ws://127.0.0.1:1'],
    ['nats://user:secret@127.0.0.1:1', 'nats://127.0.0.1:1'],
  ])('goes to %s and names it without secrets', async (url, place) => {
    const opened = connectBroker(url, { connectTimeout: 1, minDelay: 1 });
    await expect(opened).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringContaining(place),
    });
  });

  it.each(['', 'amqp://x', 'broker'])('refuses %j', async (url) => {
    await expect(connectBroker(url)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
