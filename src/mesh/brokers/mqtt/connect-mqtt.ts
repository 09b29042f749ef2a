import { randomBytes } from 'node:crypto';
import type { IClientOptions, IPublishPacket } from 'mqtt';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { type Clock, systemClock } from '../../../primitives/clock.ts';
import type {
  MeshMessage,
  BrokerConnection,
  BrokerConnectionState,
  MessageProperties,
  SubscribeOptions,
  Subscription,
} from '../broker-connection.ts';
import { resolveSubscription, type SubscriptionPlan } from '../subscription-plan.ts';
import { BrokerConnectionStates } from '../connection-states.ts';
import { MqttConnection, type MqttConnectionOptions, type MqttSocket } from './mqtt-connection.ts';
import {
  ControlTopics,
  noSubscribersCode,
  type PeerMessage,
  parseQueueAnnouncement,
  parseMessageId,
  parsePeerMessage,
} from './control-messages.ts';
import type { MqttOptions } from './mqtt-options.ts';
import { PeerMessages } from './peer-messages.ts';
import { MqttPublisher } from './mqtt-publisher.ts';
import { MqttQueue, type MqttQueueOptions } from './mqtt-queue.ts';
import { SharedSubscription, type SharedSubscriptionHost } from './shared-subscription.ts';
import { encodeProperties } from '../property-encoding.ts';
import { queueKey, queueInUseError } from '../queue-key.ts';
import { checkTopic } from '../topic-pattern.ts';

/** For how many seconds the broker keeps what is for a subscriber without a named queue, in an outage. */
const outage = 60;

/** How many queues of others a link knows. */
const maxQueues = 10_000;

/** How many messages of a shared queue are handed out at once, to all together. */
const sharedAtOnce = 1_024;

/** A link to a broker that speaks MQTT 5, over `mqtt:`, `mqtts:`, `ws:` or `wss:`. */
export async function connectMqtt(url: string, options: MqttOptions = {}): Promise<BrokerConnection> {
  if (!URL.canParse(url) || !/^(mqtts?|wss?):$/.test(new URL(url).protocol))
    throw invalidField('url', 'must begin with mqtt://, mqtts://, ws:// or wss://');
  const mqtt = await import('mqtt').catch((cause: unknown) => {
    throw new A2AError('UNAVAILABLE', 'Links over MQTT need a library: npm install mqtt', {
      cause,
      hint: 'npm install mqtt',
    });
  });
  const link = new MqttLink(mqtt.connect ?? mqtt.default.connect, url, options);
  await link.start();
  return link;
}

class MqttLink implements BrokerConnection {
  readonly #options: MqttOptions;
  readonly #setting: MqttConnectionOptions;
  readonly #clock: Clock;
  readonly #control: ControlTopics;
  readonly #id = newId();
  readonly #states = new BrokerConnectionStates('down');
  readonly #publisher: MqttPublisher;
  readonly #connection: MqttConnection;
  /** Subscriptions that are alone at their queue, by its key. */
  readonly #alone = new Map<string, MqttQueue | undefined>();
  readonly #shares = new Set<SharedSubscription>();
  /** Those of them that have their queue and share it out. */
  readonly #leading = new Map<string, SharedSubscription>();
  readonly #notes: PeerMessages;
  #closing: Promise<void> | undefined;

  constructor(connect: MqttConnectionOptions['connect'], url: string, options: MqttOptions) {
    const { clock = systemClock, random = Math.random, minDelay = 100, maxDelay = 5_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#notes = new PeerMessages(clock);
    this.#control = new ControlTopics(options.control ?? 'dragoman/link');
    const { username, password, tls, keepalive = 30, connectTimeout = 10_000 } = options;
    const settings: IClientOptions = {
      ...tls,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      keepalive,
      connectTimeout,
      properties: { maximumPacketSize: options.maxMessageBytes ?? 33_554_432 },
    };
    this.#setting = { connect, url, options: settings, pauses: { minDelay, maxDelay }, clock, random };
    this.#publisher = new MqttPublisher({
      id: this.#id,
      control: this.#control,
      clock,
      window: options.maxUnacknowledged ?? 256,
      windowBytes: options.maxUnacknowledgedCharacters ?? 16_777_216,
      maxQueues,
    });
    this.#connection = new MqttConnection(
      this.#setting,
      {
        clientId: `p${this.#id}`,
        expiry: 0,
        receiveMaximum: 1_000,
        will: { topic: this.#control.gone(this.#id), payload: Buffer.alloc(0), qos: 1, retain: false },
      },
      {
        up: (wire) => this.#up(wire),
        ready: (wire) => {
          this.#publisher.open(wire, options.inFlight ?? 64);
          this.#states.set('up');
          for (const share of this.#shares) share.again(wire).catch(() => {});
        },
        down: () => {
          this.#publisher.pause();
          this.#states.set('down');
        },
        message: (packet, acknowledge) => {
          acknowledge();
          this.#arrive(packet);
        },
        lost: (error) => {
          options.onError?.(error);
          void this.close();
        },
      },
    );
  }

  async start(): Promise<void> {
    try {
      await this.#connection.start(this.#options.connectTimeout ?? 10_000);
    } catch (error) {
      this.#states.set('closed');
      await this.#publisher.close(0);
      throw error;
    }
  }

  get state(): BrokerConnectionState {
    return this.#states.state;
  }

  onState(changed: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(changed);
  }

  async publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    this.#states.check();
    checkTopic(topic);
    if (this.#control.isOne(topic)) throw invalidField('topic', 'is one that links use among themselves');
    await this.#publisher.publish(topic, payload, encodeProperties(properties));
  }

  async subscribe(
    patterns: string | readonly string[],
    work: (delivery: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const plan = resolveSubscription(patterns, options);
    const { list, queue: name, concurrency } = plan;
    if (name !== undefined && plan.shared) return this.#share(name, plan, work);
    const isNamed = name !== undefined;
    const key = isNamed ? queueKey(name) : `u${newId()}`;
    const isShared = [...this.#shares].some((share) => share.options.key === key);
    if (this.#alone.has(key) || isShared) throw queueInUseError(name ?? key);
    this.#alone.set(key, undefined);
    const ended = (): void => {
      this.#alone.delete(key);
      if (isNamed) this.#stopAnswering(key);
      else this.#publisher.forget(key);
    };
    try {
      if (isNamed) {
        if (await this.#isHeldElsewhere(key)) throw queueInUseError(name);
      }
      const queue = this.#newQueue({
        key,
        isNamed,
        patterns: list,
        concurrency,
        work: (delivery) => work(delivery),
        taken: (error) => this.#options.onError?.(error),
        ended,
      });
      this.#alone.set(key, queue);
      if (isNamed) await (await this.#wire()).subscribe(this.#control.holder(key));
      await queue.start(this.#options.connectTimeout ?? 10_000);
      const close = (): Promise<void> => queue.close();
      return { close, [Symbol.asyncDispose]: close };
    } catch (error) {
      ended();
      throw error;
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#states.set('closed');
    await Promise.all([...this.#shares, ...this.#alone.values()].map(async (taker) => taker?.close()));
    await this.#publisher.close(this.#options.closeTimeout ?? 5_000);
    await this.#connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #share(
    name: string,
    { list, concurrency }: SubscriptionPlan,
    work: (delivery: MeshMessage) => void | Promise<void>,
  ): Promise<Subscription> {
    const key = queueKey(name);
    if (this.#alone.has(key)) throw queueInUseError(name);
    const share = new SharedSubscription(this.#host(), {
      name,
      key,
      member: newId(),
      patterns: list,
      concurrency,
      remembered: this.#options.dedupWindow ?? 10_000,
      work,
      ended: () => this.#shares.delete(share),
    });
    this.#shares.add(share);
    try {
      await share.start();
    } catch (error) {
      this.#shares.delete(share);
      throw error;
    }
    const close = (): Promise<void> => share.close();
    return { close, [Symbol.asyncDispose]: close };
  }

  /** This link as those see it who share a queue. */
  #host(): SharedSubscriptionHost {
    const connection = this.#connection;
    return {
      peer: this.#id,
      control: this.#control,
      wire: () => this.#wire(),
      get current() {
        return connection.wire;
      },
      ask: (topic, payload, isAnswer) => this.#ask(topic, payload, isAnswer),
      open: async (share, holder, taken) => {
        const { key, patterns } = share.options;
        this.#leading.set(key, share);
        await (await this.#wire()).subscribe(this.#control.holder(key));
        const queue = this.#newQueue({
          key,
          isNamed: true,
          patterns,
          concurrency: sharedAtOnce,
          work: (delivery, id) => holder.work(delivery, id),
          taken: () => {
            // Whoever has it now gets everything that is not finished.
            void queue.close(Promise.resolve());
            taken();
          },
          ended: () => {},
        });
        await queue.start(this.#options.connectTimeout ?? 10_000);
        return queue;
      },
      release: (key) => {
        this.#leading.delete(key);
        this.#stopAnswering(key);
      },
      after: (milliseconds, run) => this.#clock.after(milliseconds, run),
      failed: (error) => this.#options.onError?.(error),
    };
  }

  #newQueue(
    options: Pick<
      MqttQueueOptions,
      'key' | 'isNamed' | 'patterns' | 'concurrency' | 'work' | 'taken' | 'ended'
    >,
  ): MqttQueue {
    return new MqttQueue(this.#setting, {
      ...options,
      formerPatterns: this.#publisher.patternsOf(options.key),
      expiry: options.isNamed ? (this.#options.queueExpiry ?? 86_400) : outage,
      remembered: this.#options.dedupWindow ?? 10_000,
      control: this.#control,
      newId,
      failed: (error) => this.#options.onError?.(error),
      announced: (entry) => this.#publisher.learn(entry),
      isTaken: async () => {
        const { wire } = this.#connection;
        // Without a broker nobody has anything, and a queue without a name is nobody else's.
        if (!wire || !options.isNamed) return false;
        await wire.unsubscribe(this.#control.holder(options.key));
        if (await this.#isHeldElsewhere(options.key)) return true;
        await wire.subscribe(this.#control.holder(options.key));
        return false;
      },
    });
  }

  /** Asks whether somebody subscribes to a queue. */
  async #isHeldElsewhere(key: string): Promise<boolean> {
    const question = JSON.stringify({ peer: this.#id });
    const isIt = (note: PeerMessage): boolean => note.type === 'held' && note.key === key;
    return (await this.#ask(this.#control.holder(key), question, isIt)) !== undefined;
  }

  #stopAnswering(key: string): void {
    this.#connection.wire?.unsubscribe(this.#control.holder(key)).catch(() => {});
  }

  async #up(wire: MqttSocket): Promise<void> {
    await wire.subscribe(this.#control.peer(this.#id));
    for (const [key, has] of [...this.#alone, ...this.#leading])
      if (has) await wire.subscribe(this.#control.holder(key));
    await wire.subscribe(this.#control.queues);
    // What is behind the words of all queues comes after them, and then we know them all.
    const mark = newId();
    const ready = this.#notes.listen((note) => note.type === 'ready' && note.mark === mark);
    try {
      await wire.store(this.#control.peer(this.#id), JSON.stringify({ type: 'ready', mark }));
      await ready.heard;
    } finally {
      ready.stop();
    }
  }

  #arrive(packet: IPublishPacket): void {
    const { topic } = packet;
    const payload = packet.payload.toString();
    const last = topic.slice(topic.lastIndexOf('/') + 1);
    const control = this.#control;
    if (topic === control.peer(this.#id)) this.#hear(parsePeerMessage<PeerMessage>(payload, ['type']));
    else if (topic === control.queue(last)) this.#learn(last, payload);
    else if (topic === control.holder(last)) this.#answer(last, payload);
    else if (topic === control.gone(last)) {
      // The broker says of our last connection that it is gone; we know.
      if (last !== this.#id) for (const share of this.#shares) share.gone(last);
    } else if (topic === control.member(last)) {
      for (const share of this.#shares) if (share.options.member === last) share.arrive(packet);
    }
  }

  #hear(note: PeerMessage | undefined): void {
    if (!note) return;
    this.#notes.hear(note);
    this.#publisher.hear(note);
    if (note.type !== 'resigned') return;
    for (const share of this.#shares) if (share.options.key === note.key) share.resigned();
  }

  #learn(key: string, payload: string): void {
    const entry = parseQueueAnnouncement(payload);
    if (payload === '') this.#publisher.forget(key);
    else if (entry?.key === key) this.#publisher.learn(entry);
  }

  /** Says to whoever asks that a queue has a subscriber, or lets it take a share. */
  #answer(key: string, payload: string): void {
    const asks = parsePeerMessage<{ peer: string; member?: string }>(payload, ['peer']);
    const share = this.#leading.get(key);
    if (share && asks?.member !== undefined) share.hear(payload);
    else if (
      asks &&
      asks.peer !== this.#id &&
      parseMessageId(`${asks.peer}:0`) &&
      (share || this.#alone.get(key))
    ) {
      const note: PeerMessage = { type: 'held', key };
      this.#connection.wire?.publish(this.#control.peer(asks.peer), JSON.stringify(note));
    }
  }

  /** Publishes a question and waits for the answer. Most brokers say at once that nobody is there to give one. */
  async #ask(
    topic: string,
    question: string,
    isAnswer: (note: PeerMessage) => boolean,
  ): Promise<PeerMessage | undefined> {
    const wire = await this.#wire();
    const answer = this.#notes.listen(isAnswer);
    try {
      const code = await wire.store(topic, question);
      return code === noSubscribersCode ? undefined : await answer.heard;
    } finally {
      answer.stop();
    }
  }

  /** What to write to, as soon as there is something. */
  #wire(): Promise<MqttSocket> {
    const { wire } = this.#connection;
    if (wire) return Promise.resolve(wire);
    return new Promise((resolve, reject) => {
      const stop = this.onState(() => {
        const now = this.#connection.wire;
        if (!now && this.state !== 'closed') return;
        stop();
        if (now) resolve(now);
        else reject(new A2AError('UNAVAILABLE', 'The link is closed'));
      });
    });
  }
}

/** 22 letters and digits that nobody else has. */
const newId = (): string => randomBytes(11).toString('hex');
