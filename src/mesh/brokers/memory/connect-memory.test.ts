import { describe, expect, it } from 'vitest';
import { Collector, numberTexts } from '../../../../test/support/collector.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { MemoryBroker } from './memory-broker.ts';
import { connectMemoryBroker } from './connect-memory.ts';

describe('a queue in memory', () => {
  it('makes whoever publishes wait when it is full', async () => {
    const link = connectMemoryBroker({ broker: new MemoryBroker({ capacity: 2 }) });
    await (await link.subscribe('a', () => {}, { queue: 'q' })).close();
    const stored: string[] = [];
    const published = numberTexts(4).map((number) =>
      link.publish('a', number).then(() => stored.push(number)),
    );
    await Promise.all(published.slice(0, 2));
    expect(stored).toEqual(['0', '1']);
    const got = new Collector();
    await link.subscribe('a', got.add, { queue: 'q' });
    await Promise.all(published);
    await got.waitForCount(4);
    expect(got.payloads).toEqual(numberTexts(4));
  });

  it('does not hold back what is for others', async () => {
    const link = connectMemoryBroker({ broker: new MemoryBroker({ capacity: 1 }), clock: new ManualClock() });
    await (await link.subscribe('a', () => {}, { queue: 'q' })).close();
    void link.publish('a', '1');
    link.publish('a', '2').catch(() => {});
    const got = new Collector();
    await link.subscribe('b', got.add);
    await link.publish('b', '3');
    await got.waitForCount(1);
  });

  it('lets a link close that waits for room, after a while', async () => {
    const clock = new ManualClock();
    const link = connectMemoryBroker({ broker: new MemoryBroker({ capacity: 1 }), clock });
    await (await link.subscribe('a', () => {}, { queue: 'q' })).close();
    await link.publish('a', '1');
    const refused = expect(link.publish('a', '2')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const closed = link.close();
    clock.advance(5_000);
    await closed;
    await refused;
    expect(clock.pending).toBe(0);
  });

  it('is forgotten on request, and nobody waits for it any more', async () => {
    const broker = new MemoryBroker({ capacity: 1 });
    const link = connectMemoryBroker({ broker });
    const subscription = await link.subscribe('a', () => {}, { queue: 'q' });
    broker.remove('q');
    await subscription.close();
    await link.publish('a', '1');
    const waits = link.publish('a', '2');
    broker.remove('q');
    await waits;
    const got = new Collector();
    await link.subscribe('a', got.add, { queue: 'q' });
    await link.publish('a', '3');
    await got.waitForCount(1);
    expect(got.payloads).toEqual(['3']);
  });

  it('tells what the work on a message threw', async () => {
    const errors: unknown[] = [];
    const link = connectMemoryBroker({ onError: (error) => errors.push(error) });
    await link.subscribe('a', async () => {
      throw new Error('later');
    });
    await link.subscribe('a', () => {
      throw new Error('at once');
    });
    await link.publish('a', '');
    await link.close();
    expect(errors.map(String).toSorted()).toEqual(['Error: at once', 'Error: later']);
  });
});
