import { randomBytes } from 'node:crypto';
import type { IPublishPacket } from 'mqtt';
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
  type PeerMessage,
  parseQueueAnnouncement,
  parseMessageId,
  parsePeerMessage,
} from './control-messages.ts';
import type { MqttOptions } from './mqtt-options.ts';
import { toClientOptions } from './to-client-options.ts';
import { PeerMessages } from './peer-messages.ts';
import { MqttPublisher } from './mqtt-publisher.ts';
import { MqttQueue, type MqttQueueOptions } from './mqtt-queue.ts';
import { SharedSubscription, type SharedSubscriptionHost } from './shared-subscription.ts';
import { encodeProperties } from '../property-encoding.ts';
import { queueKey, queueInUseError } from '../queue-key.ts';
import { checkTopic } from '../topic-pattern.ts';

/** Seconds for which the broker retains the session of an unnamed queue during an interruption. */
const unnamedQueueExpiry = 60;

/** Maximum number of known queues of other connections. */
const maxQueues = 10_000;

/** Maximum number of messages of a shared queue in progress, in all members together. */
const sharedConcurrency = 1_024;

/** Connects to an MQTT 5 broker over `mqtt:`, `mqtts:`, `ws:` or `wss:`. */
export async function connectMqtt(url: string, options: MqttOptions = {}): Promise<BrokerConnection> {
  if (!URL.canParse(url) || !/^(mqtts?|wss?):$/.test(new URL(url).protocol))
    throw invalidField('url', 'must start with mqtt://, mqtts://, ws:// or wss://');
  const mqtt = await import('mqtt').catch((cause: unknown) => {
    throw new A2AError('UNAVAILABLE', 'MQTT connections need a library: npm install mqtt', {
      cause,
      hint: 'npm install mqtt',
    });
  });
  const connection = new MqttBrokerConnection(mqtt.connect ?? mqtt.default.connect, url, options);
  await connection.start();
  return connection;
}

class MqttBrokerConnection implements BrokerConnection {
  readonly #options: MqttOptions;
  readonly #connectionOptions: MqttConnectionOptions;
  readonly #clock: Clock;
  readonly #control: ControlTopics;
  readonly #id = newId();
  readonly #states = new BrokerConnectionStates('down');
  readonly #publisher: MqttPublisher;
  readonly #connection: MqttConnection;
  /** Exclusive subscriptions by queue key. */
  readonly #exclusive = new Map<string, MqttQueue | undefined>();
  readonly #shares = new Set<SharedSubscription>();
  /** Shared subscriptions that coordinate their queue, by queue key. */
  readonly #coordinating = new Map<string, SharedSubscription>();
  readonly #peerMessages: PeerMessages;
  #closing: Promise<void> | undefined;

  constructor(connect: MqttConnectionOptions['connect'], url: string, options: MqttOptions) {
    const { clock = systemClock, random = Math.random, minDelay = 100, maxDelay = 5_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#peerMessages = new PeerMessages(clock);
    this.#control = new ControlTopics(options.control ?? 'dragoman/control');
    this.#connectionOptions = {
      connect,
      url,
      options: toClientOptions(options),
      backoff: { minDelay, maxDelay, jitter: 'equal' },
      clock,
      random,
    };
    this.#publisher = new MqttPublisher({
      id: this.#id,
      control: this.#control,
      clock,
      maxUnacknowledged: options.maxUnacknowledged ?? 256,
      maxUnacknowledgedCharacters: options.maxUnacknowledgedCharacters ?? 16_777_216,
      maxQueues,
    });
    this.#connection = new MqttConnection(
      this.#connectionOptions,
      {
        clientId: `p${this.#id}`,
        expiry: 0,
        receiveMaximum: 1_000,
        will: { topic: this.#control.gone(this.#id), payload: Buffer.alloc(0), qos: 1, retain: false },
      },
      {
        up: (socket) => this.#onUp(socket),
        ready: (socket) => {
          this.#publisher.open(socket, options.inFlight ?? 64);
          this.#states.set('up');
          for (const share of this.#shares) share.resume(socket).catch(() => {});
        },
        down: () => {
          this.#publisher.pause();
          this.#states.set('down');
        },
        message: (packet, acknowledge) => {
          acknowledge();
          this.#receive(packet);
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

  onState(listener: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(listener);
  }

  async publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    this.#states.check();
    checkTopic(topic);
    if (this.#control.includes(topic)) throw invalidField('topic', 'must not be a control topic of Dragoman');
    await this.#publisher.publish(topic, payload, encodeProperties(properties));
  }

  async subscribe(
    patterns: string | readonly string[],
    handle: (message: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const plan = resolveSubscription(patterns, options);
    const { list, queue: name, concurrency } = plan;
    if (name !== undefined && plan.shared) return this.#share(name, plan, handle);
    const isNamed = name !== undefined;
    const key = isNamed ? queueKey(name) : `u${newId()}`;
    const isShared = [...this.#shares].some((share) => share.options.key === key);
    if (this.#exclusive.has(key) || isShared) throw queueInUseError(name ?? key);
    this.#exclusive.set(key, undefined);
    const onClosed = (): void => {
      this.#exclusive.delete(key);
      if (isNamed) this.#stopHolderReplies(key);
      else this.#publisher.removeQueue(key);
    };
    try {
      if (isNamed && (await this.#hasOtherSubscriber(key))) throw queueInUseError(name);
      const queue = this.#createQueue({
        key,
        isNamed,
        patterns: list,
        concurrency,
        handle: (message) => handle(message),
        onTakenOver: (error) => this.#options.onError?.(error),
        onClosed,
      });
      this.#exclusive.set(key, queue);
      if (isNamed) await (await this.#socket()).subscribe(this.#control.holder(key));
      await queue.start(this.#options.connectTimeout ?? 10_000);
      const close = (): Promise<void> => queue.close();
      return { close, [Symbol.asyncDispose]: close };
    } catch (error) {
      onClosed();
      throw error;
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#states.set('closed');
    await Promise.all([...this.#shares, ...this.#exclusive.values()].map(async (each) => each?.close()));
    await this.#publisher.close(this.#options.closeTimeout ?? 5_000);
    await this.#connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #share(
    name: string,
    { list, concurrency }: SubscriptionPlan,
    handle: (message: MeshMessage) => void | Promise<void>,
  ): Promise<Subscription> {
    const key = queueKey(name);
    if (this.#exclusive.has(key)) throw queueInUseError(name);
    const share = new SharedSubscription(this.#host(), {
      name,
      key,
      member: newId(),
      patterns: list,
      concurrency,
      dedupWindow: this.#options.dedupWindow ?? 10_000,
      handle,
      onClosed: () => this.#shares.delete(share),
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

  /** This connection as its shared subscriptions use it. */
  #host(): SharedSubscriptionHost {
    const connection = this.#connection;
    return {
      peer: this.#id,
      control: this.#control,
      socket: () => this.#socket(),
      get currentSocket() {
        return connection.socket;
      },
      query: (topic, payload, isResponse) => this.#query(topic, payload, isResponse),
      open: async (share, coordinator, onTakenOver) => {
        const { key, patterns } = share.options;
        this.#coordinating.set(key, share);
        await (await this.#socket()).subscribe(this.#control.holder(key));
        const queue = this.#createQueue({
          key,
          isNamed: true,
          patterns,
          concurrency: sharedConcurrency,
          handle: (message, id) => coordinator.handle(message, id),
          onTakenOver: () => {
            // The new coordinator receives all unfinished messages.
            void queue.close(Promise.resolve());
            onTakenOver();
          },
          onClosed: () => {},
        });
        await queue.start(this.#options.connectTimeout ?? 10_000);
        return queue;
      },
      release: (key) => {
        this.#coordinating.delete(key);
        this.#stopHolderReplies(key);
      },
      after: (milliseconds, run) => this.#clock.after(milliseconds, run),
      onError: (error) => this.#options.onError?.(error),
    };
  }

  #createQueue(
    options: Pick<
      MqttQueueOptions,
      'key' | 'isNamed' | 'patterns' | 'concurrency' | 'handle' | 'onTakenOver' | 'onClosed'
    >,
  ): MqttQueue {
    return new MqttQueue(this.#connectionOptions, {
      ...options,
      formerPatterns: this.#publisher.patternsOf(options.key),
      expiry: options.isNamed ? (this.#options.queueExpiry ?? 86_400) : unnamedQueueExpiry,
      dedupWindow: this.#options.dedupWindow ?? 10_000,
      control: this.#control,
      newId,
      onError: (error) => this.#options.onError?.(error),
      onAnnounced: (announcement) => this.#publisher.addQueue(announcement),
      isTakenOver: async () => {
        const { socket } = this.#connection;
        // An unnamed queue has no other subscriber.
        if (!socket || !options.isNamed) return false;
        await socket.unsubscribe(this.#control.holder(options.key));
        if (await this.#hasOtherSubscriber(options.key)) return true;
        await socket.subscribe(this.#control.holder(options.key));
        return false;
      },
    });
  }

  async #hasOtherSubscriber(key: string): Promise<boolean> {
    const query = JSON.stringify({ peer: this.#id });
    const isHeld = (message: PeerMessage): boolean => message.type === 'held' && message.key === key;
    return (await this.#query(this.#control.holder(key), query, isHeld)) !== undefined;
  }

  #stopHolderReplies(key: string): void {
    this.#connection.socket?.unsubscribe(this.#control.holder(key)).catch(() => {});
  }

  async #onUp(socket: MqttSocket): Promise<void> {
    await socket.subscribe(this.#control.peer(this.#id));
    for (const [key, subscription] of [...this.#exclusive, ...this.#coordinating])
      if (subscription) await socket.subscribe(this.#control.holder(key));
    await socket.subscribe(this.#control.queues);
    // This message arrives after the retained announcements, so that all queues are known then.
    const mark = newId();
    const ready = this.#peerMessages.waitFor((message) => message.type === 'ready' && message.mark === mark);
    try {
      await socket.store(this.#control.peer(this.#id), JSON.stringify({ type: 'ready', mark }));
      await ready.response;
    } finally {
      ready.stop();
    }
  }

  #receive(packet: IPublishPacket): void {
    const { topic } = packet;
    const payload = packet.payload.toString();
    const last = topic.slice(topic.lastIndexOf('/') + 1);
    const control = this.#control;
    if (topic === control.peer(this.#id))
      this.#receivePeerMessage(parsePeerMessage<PeerMessage>(payload, ['type']));
    else if (topic === control.queue(last)) this.#receiveAnnouncement(last, payload);
    else if (topic === control.holder(last)) this.#receiveHolderQuery(last, payload);
    else if (topic === control.gone(last)) {
      // The will of our own previous connection is ignored.
      if (last !== this.#id) for (const share of this.#shares) share.peerGone(last);
    } else if (topic === control.member(last)) {
      for (const share of this.#shares) if (share.options.member === last) share.receive(packet);
    }
  }

  #receivePeerMessage(message: PeerMessage | undefined): void {
    if (!message) return;
    this.#peerMessages.receive(message);
    this.#publisher.receive(message);
    if (message.type !== 'resigned') return;
    for (const share of this.#shares) if (share.options.key === message.key) share.coordinatorResigned();
  }

  #receiveAnnouncement(key: string, payload: string): void {
    const announcement = parseQueueAnnouncement(payload);
    if (payload === '') this.#publisher.removeQueue(key);
    else if (announcement?.key === key) this.#publisher.addQueue(announcement);
  }

  /** Replies that a queue has a subscriber, or lets a member join a shared queue. */
  #receiveHolderQuery(key: string, payload: string): void {
    const query = parsePeerMessage<{ peer: string; member?: string }>(payload, ['peer']);
    const share = this.#coordinating.get(key);
    if (share && query?.member !== undefined) share.receiveMemberMessage(payload);
    else if (
      query &&
      query.peer !== this.#id &&
      parseMessageId(`${query.peer}:0`) &&
      (share || this.#exclusive.get(key))
    ) {
      const message: PeerMessage = { type: 'held', key };
      this.#connection.socket?.publish(this.#control.peer(query.peer), JSON.stringify(message));
    }
  }

  async #query(
    topic: string,
    query: string,
    isResponse: (message: PeerMessage) => boolean,
  ): Promise<PeerMessage | undefined> {
    return this.#peerMessages.query(await this.#socket(), { topic, query, isResponse });
  }

  /** Returns the socket, or waits for the connection. */
  #socket(): Promise<MqttSocket> {
    const { socket } = this.#connection;
    if (socket) return Promise.resolve(socket);
    return new Promise((resolve, reject) => {
      const stop = this.onState(() => {
        const current = this.#connection.socket;
        if (!current && this.state !== 'closed') return;
        stop();
        if (current) resolve(current);
        else reject(new A2AError('UNAVAILABLE', 'The broker connection is closed'));
      });
    });
  }
}

const newId = (): string => randomBytes(11).toString('hex');
