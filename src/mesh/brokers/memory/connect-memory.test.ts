import { describe, expect, it } from 'vitest';
import { Collector, numberTexts } from '../../../../test/support/collector.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { MemoryBroker } from './memory-broker.ts';
import { connectMemoryBroker } from './connect-memory.ts';

describe('memory queue', () => {
  it('applies backpressure to publishers when it is full', async () => {
    const connection = connectMemoryBroker({ broker: new MemoryBroker({ capacity: 2 }) });
    await (await connection.subscribe('a', () => {}, { queue: 'q' })).close();
    const stored: string[] = [];
    const published = numberTexts(4).map((number) =>
      connection.publish('a', number).then(() => stored.push(number)),
    );
    await Promise.all(published.slice(0, 2));
    expect(stored).toEqual(['0', '1']);
    const received = new Collector();
    await connection.subscribe('a', received.add, { queue: 'q' });
    await Promise.all(published);
    await received.waitForCount(4);
    expect(received.payloads).toEqual(numberTexts(4));
  });

  it('does not block other queues when it is full', async () => {
    const connection = connectMemoryBroker({
      broker: new MemoryBroker({ capacity: 1 }),
      clock: new ManualClock(),
    });
    await (await connection.subscribe('a', () => {}, { queue: 'q' })).close();
    void connection.publish('a', '1');
    connection.publish('a', '2').catch(() => {});
    const received = new Collector();
    await connection.subscribe('b', received.add);
    await connection.publish('b', '3');
    await received.waitForCount(1);
  });

  it('rejects waiting publishes after the close timeout', async () => {
    const clock = new ManualClock();
    const connection = connectMemoryBroker({ broker: new MemoryBroker({ capacity: 1 }), clock });
    await (await connection.subscribe('a', () => {}, { queue: 'q' })).close();
    await connection.publish('a', '1');
    const rejected = expect(connection.publish('a', '2')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const closed = connection.close();
    clock.advance(5_000);
    await closed;
    await rejected;
    expect(clock.pending).toBe(0);
  });

  it('releases waiting publishers when it is removed', async () => {
    const broker = new MemoryBroker({ capacity: 1 });
    const connection = connectMemoryBroker({ broker });
    const subscription = await connection.subscribe('a', () => {}, { queue: 'q' });
    broker.remove('q');
    await subscription.close();
    await connection.publish('a', '1');
    const waiting = connection.publish('a', '2');
    broker.remove('q');
    await waiting;
    const received = new Collector();
    await connection.subscribe('a', received.add, { queue: 'q' });
    await connection.publish('a', '3');
    await received.waitForCount(1);
    expect(received.payloads).toEqual(['3']);
  });

  it('reports errors of the message handler', async () => {
    const errors: unknown[] = [];
    const connection = connectMemoryBroker({ onError: (error) => errors.push(error) });
    await connection.subscribe('a', async () => {
      throw new Error('later');
    });
    await connection.subscribe('a', () => {
      throw new Error('at once');
    });
    await connection.publish('a', '');
    await connection.close();
    expect(errors.map(String).toSorted()).toEqual(['Error: at once', 'Error: later']);
  });
});
