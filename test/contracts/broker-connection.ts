import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BrokerConnection, BrokerConnectionState } from '../../src/mesh/brokers/broker-connection.ts';
import { Collector, Latch, numberTexts } from '../support/collector.ts';

/** A link whose process can die. */
interface Mortal {
  readonly link: BrokerConnection;
  /** Is gone without a word. */
  kill(): void;
}

/** What links under contract are links to. */
export interface LinkBench {
  open(): Promise<BrokerConnection>;
  openMortal(): Promise<Mortal>;
  /** Ends the broker and starts it again, where there is one. */
  readonly restart?: (meanwhile: () => Promise<void>) => Promise<void>;
  remove(): Promise<void>;
}

/** What some brokers cannot promise. */
export interface LinkPromises {
  /** A queue rejects a second subscriber. An MQTT broker disconnects the first one instead. */
  readonly rejectsSecondSubscriber: boolean;
  /** Messages of a killed subscriber of a shared queue go to the others. MQTT leaves it to the broker; Mosquitto does not. */
  readonly redistributes: boolean;
  /** The broker has stored all messages that it has acknowledged when it ends in this way; undefined if there is no broker. */
  readonly survives?: 'kill' | 'stop';
}

/** Contract of every broker connection. */
export function describeLink(
  name: string,
  start: () => Promise<LinkBench>,
  { rejectsSecondSubscriber, redistributes, survives }: LinkPromises,
): void {
  describe(`BrokerConnection contract: ${name}`, () => {
    let bench: LinkBench;
    let round = 0;
    const links: BrokerConnection[] = [];
    /** Things to let go at the end, so that closing does not wait for work that a test left. */
    const latches: Latch[] = [];
    beforeAll(async () => {
      bench = await start();
    });
    afterAll(() => bench?.remove());
    afterEach(async () => {
      for (const latch of latches.splice(0)) latch.open();
      await Promise.all(links.splice(0).map((link) => link.close()));
    });
    const open = async (): Promise<BrokerConnection> => {
      const link = await bench.open();
      links.push(link);
      return link;
    };
    const openMortal = async (): Promise<Mortal> => {
      const mortal = await bench.openMortal();
      links.push(mortal.link);
      return mortal;
    };
    const newLatch = (): Latch => {
      const latch = new Latch();
      latches.push(latch);
      return latch;
    };
    /** Names that no other test uses. */
    const topic = (rest: string): string => `test/${round}/${rest}`;
    const queue = (): string => `test/q/${round}`;
    afterEach(() => {
      round++;
    });

    it('delivers a message with its properties', async () => {
      const [one, two] = [await open(), await open()];
      const got = new Collector();
      await two.subscribe(topic('a'), got.add);
      await one.publish(topic('a'), '{"hello":"wörld"}', { replyTo: 'x/y' });
      expect(await got.waitForCount(1)).toEqual([
        {
          topic: topic('a'),
          payload: '{"hello":"wörld"}',
          properties: { replyTo: 'x/y' },
          redelivered: false,
          id: expect.any(String) as string,
        },
      ]);
    });

    it('delivers to all subscribers, including its own connection', async () => {
      const [one, two] = [await open(), await open()];
      const [mine, theirs] = [new Collector(), new Collector()];
      await one.subscribe(topic('>'), mine.add);
      await two.subscribe(topic('*'), theirs.add);
      await one.publish(topic('a'), '1');
      await Promise.all([mine.waitForCount(1), theirs.waitForCount(1)]);
      expect([mine.payloads, theirs.payloads]).toEqual([['1'], ['1']]);
    });

    it('matches complete topic levels, and one or more at the end', async () => {
      const link = await open();
      const [one, more, both] = [new Collector(), new Collector(), new Collector()];
      await link.subscribe(topic('a/*/c'), one.add);
      await link.subscribe(topic('a/>'), more.add);
      await link.subscribe([topic('a/b'), topic('z/>')], both.add);
      for (const rest of ['a', 'a/b', 'a/b/c', 'a/b.d e/c', 'a/b/c/d', 'ab/b/c', 'a/*/ü>', 'z/end'])
        await link.publish(topic(rest), rest);
      await Promise.all([one.waitForCount(2), more.waitForCount(5), both.waitForCount(2)]);
      expect(one.payloads).toEqual(['a/b/c', 'a/b.d e/c']);
      expect(more.payloads).toEqual(['a/b', 'a/b/c', 'a/b.d e/c', 'a/b/c/d', 'a/*/ü>']);
      expect(more.all.map((delivery) => delivery.topic)).toEqual(more.payloads.map(topic));
      expect(both.payloads).toEqual(['a/b', 'z/end']);
    });

    it('transports user properties of every type', async () => {
      const link = await open();
      const got = new Collector();
      await link.subscribe(topic('a'), got.add);
      const properties = {
        a2aUserConfig: { user_profile: { id: 'alice', roles: ['a', 'b'], age: 3, isNew: true, none: null } },
        callDepth: 3,
        isNew: false,
        nothing: null,
        empty: '',
        digits: '3',
        json: '{"a":1}',
        'näme with spaces': 'línes\r\nof text, 日本語 🙂',
        long: 'x'.repeat(10_240),
      };
      await link.publish(topic('a'), '', { ...properties, left: undefined });
      const [delivery] = await got.waitForCount(1);
      expect(delivery?.properties).toEqual(properties);
      expect(delivery?.payload).toBe('');
    });

    it('delivers a copy of the properties', async () => {
      const link = await open();
      const got = new Collector();
      await link.subscribe(topic('a'), got.add);
      const properties = { map: { inside: 1 } };
      const published = link.publish(topic('a'), '', properties);
      properties.map.inside = 2;
      await published;
      expect((await got.waitForCount(1))[0]?.properties).toEqual({ map: { inside: 1 } });
    });

    it('preserves the order within a topic', async () => {
      const [one, two] = [await open(), await open()];
      const got = new Collector();
      await two.subscribe(topic('>'), got.add, { queue: queue() });
      await Promise.all(numberTexts(1_000).map((number) => one.publish(topic('a'), number)));
      await got.waitForCount(1_000);
      expect(got.payloads).toEqual(numberTexts(1_000));
    });

    it('transports a message of one megabyte', async () => {
      const link = await open();
      const got = new Collector();
      await link.subscribe(topic('a'), got.add);
      const payload = 'x'.repeat(1_000_000);
      await link.publish(topic('a'), payload);
      expect((await got.waitForCount(1))[0]?.payload === payload).toBe(true);
    });

    it('redelivers messages that a killed subscriber had not acknowledged', async () => {
      const [one, two] = [await open(), await open()];
      const mortal = await openMortal();
      const latch = newLatch();
      const [begun, got] = [new Collector(), new Collector()];
      const work = async (delivery: Parameters<typeof begun.add>[0]): Promise<void> => {
        begun.add(delivery);
        if (delivery.payload !== '0') await latch.opened;
      };
      await mortal.link.subscribe(topic('a'), work, { queue: queue() });
      for (const number of numberTexts(3)) await one.publish(topic('a'), number);
      await begun.waitForCount(3);
      mortal.kill();
      await two.subscribe(topic('a'), got.add, { queue: queue() });
      // The broker may have missed the acknowledgement of the first message. Redelivery does not keep the order:
      // JetStream appends a message to the tail if the broker notices the dead subscriber late.
      await got.waitFor(() => ['1', '2'].every((payload) => got.payloads.includes(payload)));
      expect(got.payloads.filter((payload) => payload !== '0').toSorted()).toEqual(['1', '2']);
      expect(got.all.every(({ redelivered }) => redelivered)).toBe(true);
    });

    it('gives an exclusive queue to the next subscriber after the first has closed', async () => {
      const [one, two] = [await open(), await open()];
      const first = await one.subscribe(topic('a'), () => {}, { queue: queue() });
      const refusal = { reason: 'CONFLICT', message: expect.stringContaining(queue()) };
      for (const link of rejectsSecondSubscriber ? [one, two] : [one])
        for (const shared of [false, true])
          await expect(
            link.subscribe(topic('a'), () => {}, { queue: queue(), shared }),
          ).rejects.toMatchObject(refusal);
      await first.close();
      const got = new Collector();
      await two.subscribe(topic('a'), got.add, { queue: queue() });
      await one.publish(topic('a'), '1');
      await got.waitForCount(1);
    });

    it('opens a shared queue for two subscribers that start at nearly the same time', async () => {
      const [one, two] = [await open(), await open()];
      const got = new Collector();
      const names = numberTexts(30).map((number) => `${queue()}-${number}`);
      for (const [turns, name] of names.entries()) {
        const options = { queue: name, shared: true };
        const first = one.subscribe(topic(name), got.add, options);
        // Between any two steps of the first one, the second one starts.
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        await Promise.all([first, two.subscribe(topic(name), got.add, options)]);
      }
      await Promise.all(names.map((name) => one.publish(topic(name), name)));
      await got.waitForCount(names.length);
      expect(got.payloads.toSorted()).toEqual(names.toSorted());
    });

    it('distributes a shared queue among its subscribers', async () => {
      const [one, two, three] = [await open(), await open(), await open()];
      const [left, right, both] = [new Collector(), new Collector(), new Collector()];
      const latch = newLatch();
      const options = { queue: queue(), shared: true, concurrency: 10 };
      const worker =
        (mine: Collector) =>
        async (delivery: Parameters<typeof mine.add>[0]): Promise<void> => {
          mine.add(delivery);
          both.add(delivery);
          await latch.opened;
        };
      await one.subscribe(topic('>'), worker(left), options);
      await two.subscribe(topic('>'), worker(right), options);
      const published = Promise.all(numberTexts(40).map((number) => three.publish(topic('a'), number)));
      // No subscriber gets more than its limit, so both have some.
      await both.waitForCount(20);
      expect([left.all.length, right.all.length]).toEqual([10, 10]);
      latch.open();
      await published;
      await both.waitForCount(40);
      expect(both.payloads.toSorted((a, b) => Number(a) - Number(b))).toEqual(numberTexts(40));
    });

    it.runIf(redistributes)('redistributes the messages of a killed subscriber', async () => {
      const mortal = await openMortal();
      const [one, two] = [await open(), await open()];
      const latch = newLatch();
      const [begun, got] = [new Collector(), new Collector()];
      const options = { queue: queue(), shared: true, concurrency: 4 };
      await mortal.link.subscribe(
        topic('>'),
        async (delivery) => {
          begun.add(delivery);
          await latch.opened;
        },
        options,
      );
      for (const number of numberTexts(4)) await two.publish(topic('a'), number);
      await begun.waitForCount(4);
      await one.subscribe(topic('>'), got.add, options);
      mortal.kill();
      await got.waitForCount(4);
      expect(got.payloads.toSorted()).toEqual(numberTexts(4));
    });

    it('continues a shared queue after its first subscriber closes', async () => {
      const [one, two, three] = [await open(), await open(), await open()];
      const got = new Collector();
      const options = { queue: queue(), shared: true };
      const first = await one.subscribe(topic('>'), got.add, options);
      await two.subscribe(topic('>'), got.add, options);
      await three.publish(topic('a'), '0');
      await got.waitForCount(1);
      await first.close();
      for (const number of ['1', '2', '3']) await three.publish(topic('a'), number);
      await got.waitForCount(4);
      expect(got.payloads.toSorted()).toEqual(numberTexts(4));
    });

    it('retains messages of a queue without subscribers', async () => {
      const [one, two] = [await open(), await open()];
      const first = await one.subscribe(topic('*'), () => {}, { queue: queue() });
      await first.close();
      for (const number of numberTexts(5)) await two.publish(topic('a'), number, { number: Number(number) });
      const got = new Collector();
      await one.subscribe(topic('*'), got.add, { queue: queue() });
      await got.waitForCount(5);
      expect(got.payloads).toEqual(numberTexts(5));
      expect(got.all.map(({ properties }) => properties)).toEqual(
        [0, 1, 2, 3, 4].map((number) => ({ number })),
      );
    });

    it('limits concurrent messages to the configured number', async () => {
      const [one, two] = [await open(), await open()];
      const [begun, latch] = [new Collector(), newLatch()];
      let [working, most] = [0, 0];
      await two.subscribe(
        topic('a'),
        async (delivery) => {
          most = Math.max(most, ++working);
          begun.add(delivery);
          await latch.opened;
          working--;
        },
        { queue: queue(), concurrency: 3 },
      );
      const published = Promise.all(numberTexts(30).map((number) => one.publish(topic('a'), number)));
      await begun.waitForCount(3);
      // A message that goes round behind the others shows that no more are coming.
      const mark = new Collector();
      await one.subscribe(topic('mark'), mark.add);
      await one.publish(topic('mark'), '');
      await mark.waitForCount(1);
      expect(begun.all).toHaveLength(3);
      latch.open();
      await published;
      await begun.waitForCount(30);
      expect(most).toBe(3);
    });

    it('continues after a failed message', async () => {
      const link = await open();
      const got = new Collector();
      await link.subscribe(topic('a'), async (delivery) => {
        got.add(delivery);
        if (delivery.payload === '0') throw new Error('on purpose');
      });
      await link.subscribe(topic('b'), (delivery) => {
        got.add(delivery);
        if (delivery.payload === '2') throw new Error('on purpose, at once');
      });
      await link.publish(topic('a'), '0');
      await link.publish(topic('a'), '1');
      await got.waitForCount(2);
      await link.publish(topic('b'), '2');
      await link.publish(topic('b'), '3');
      await got.waitForCount(4);
      expect(got.payloads).toEqual(numberTexts(4));
    });

    it.each(['subscription', 'link'])('waits for running messages when the %s is closed', async (what) => {
      const [one, two] = [await open(), await open()];
      const [begun, latch] = [new Collector(), newLatch()];
      let isDone = false;
      const subscription = await two.subscribe(
        topic('a'),
        async (delivery) => {
          begun.add(delivery);
          await latch.opened;
          isDone = true;
        },
        { queue: queue() },
      );
      await one.publish(topic('a'), '1');
      await begun.waitForCount(1);
      const closed = (what === 'link' ? two : subscription).close().then(() => isDone);
      latch.open();
      expect(await closed).toBe(true);
      // It was acknowledged, so it is not redelivered.
      const got = new Collector();
      await one.subscribe(topic('>'), got.add, { queue: queue() });
      await one.publish(topic('a'), '2');
      await got.waitForCount(1);
      expect(got.payloads).toEqual(['2']);
    });

    it('delivers nothing to a closed subscription', async () => {
      const link = await open();
      const [gone, here] = [new Collector(), new Collector()];
      const subscription = await link.subscribe(topic('>'), gone.add);
      await link.subscribe(topic('>'), here.add);
      await subscription.close();
      await link.publish(topic('a'), '1');
      await here.waitForCount(1);
      expect(gone.all).toEqual([]);
    });

    it('reports its state and rejects calls after close', async () => {
      const link = await bench.open();
      const states: BrokerConnectionState[] = [];
      expect(link.state).toBe('up');
      link.onState((state) => states.push(state));
      await link.close();
      await link.close();
      expect(states).toEqual(['closed']);
      expect(link.state).toBe('closed');
      await expect(link.publish(topic('a'), '')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
      await expect(link.subscribe(topic('a'), () => {})).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    });

    it.each([
      ['an empty topic', ''],
      ['a topic with a wildcard of MQTT', 'a/+'],
      ['another one', 'a/b#'],
    ])('rejects %s', async (_what, bad) => {
      const link = await open();
      await expect(link.publish(bad, '')).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
      await expect(link.subscribe(bad, () => {})).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    });

    it('rejects a pattern with > in the middle', async () => {
      const link = await open();
      await expect(link.subscribe('a/>/b', () => {})).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    });

    it('closes all connections', async () => {
      const count = (): number =>
        process.getActiveResourcesInfo().filter((kind) => /TCP|TLS|Timeout/.test(kind)).length;
      const before = count();
      const link = await bench.open();
      await link.subscribe(topic('a'), () => {});
      await link.subscribe(topic('b'), () => {}, { queue: queue() });
      await link.subscribe(topic('c'), () => {}, { queue: `${queue()}/shared`, shared: true });
      await link.publish(topic('a'), '');
      await link.close();
      expect(count()).toBeLessThanOrEqual(before);
    });

    if (!survives) return;

    it(`loses and duplicates nothing when the broker is ${survives === 'kill' ? 'killed' : 'restarted'}`, async () => {
      const [one, two] = [await open(), await open()];
      const got = new Collector();
      let worked = 0;
      await two.subscribe(
        topic('>'),
        async (delivery) => {
          // A message that is processed while the broker ends cannot be acknowledged.
          if (++worked % 10 === 0) await new Promise(setImmediate);
          got.add(delivery);
        },
        { queue: queue(), concurrency: 16 },
      );
      const states: BrokerConnectionState[] = [];
      one.onState((state) => states.push(state));
      const published: Promise<void>[] = [];
      const send = (from: number, to: number): void => {
        for (let at = from; at < to; at++) published.push(one.publish(topic(`a/${at % 3}`), String(at)));
      };
      send(0, 500);
      await got.waitForCount(50);
      await bench.restart?.(async () => send(500, 1_000));
      send(1_000, 1_500);
      await Promise.all(published);
      await got.waitForCount(1_500);
      expect(got.payloads.toSorted((a, b) => Number(a) - Number(b))).toEqual(numberTexts(1_500));
      expect(states).toEqual(['down', 'up']);
    });
  });
}
