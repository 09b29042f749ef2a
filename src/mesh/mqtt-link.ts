import { randomBytes } from 'node:crypto';
import type { IClientOptions, IPublishPacket } from 'mqtt';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Delivery, Link, LinkState, Properties, SubscribeOptions, Subscription } from './link.ts';
import { readSubscription } from './link-options.ts';
import { LinkStates } from './link-states.ts';
import { MqttConnection, type MqttSetting, type MqttWire } from './mqtt/connection.ts';
import { ControlTopics, type PeerNote, type QueueEntry, readNote } from './mqtt/control.ts';
import { MqttPublisher } from './mqtt/publisher.ts';
import { MqttQueue } from './mqtt/queue.ts';
import { writeTexts } from './property-texts.ts';
import { keyOf, queueIsHeld } from './queue-name.ts';
import { checkTopic } from './topic.ts';

/** Options of {@link mqttLink}. */
export interface MqttLinkOptions {
  username?: string;
  password?: string;
  /** How to trust the broker, and how to be trusted by it, for `mqtts:` and `wss:`. */
  tls?: {
    ca?: string | Buffer;
    cert?: string | Buffer;
    key?: string | Buffer;
    passphrase?: string;
    servername?: string;
    rejectUnauthorized?: boolean;
  };
  /** After how many seconds of silence the broker is asked whether it is there. @defaultValue 30 */
  keepalive?: number;
  /** How long the first connection may take, in milliseconds; until then it is tried again. @defaultValue 10000 */
  connectTimeout?: number;
  /** The longest pause before the first further attempt, in milliseconds. @defaultValue 100 */
  minDelay?: number;
  /** The longest pause between attempts, in milliseconds. @defaultValue 5000 */
  maxDelay?: number;
  /** For how many seconds the broker keeps a named queue that nobody subscribes to. @defaultValue 86400 */
  queueExpiry?: number;
  /** How many messages are on the way to the broker at once. @defaultValue 64 */
  inFlight?: number;
  /** How many messages of ours a queue may be behind before `publish` waits. @defaultValue 256 */
  window?: number;
  /** The same in characters, because these are kept in memory. @defaultValue 16777216 */
  windowBytes?: number;
  /** The largest message that is taken, in bytes. @defaultValue 33554432 */
  maxMessageBytes?: number;
  /** How many ids of finished messages each subscription remembers. @defaultValue 10000 */
  remembered?: number;
  /** The topics that links use among themselves begin with this. @defaultValue 'dragoman/link' */
  control?: string;
  /** How long `close` waits for what is being published, in milliseconds. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with what the work on a message threw, and when a subscription is lost for good. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: () => number;
}

/** How long one waits for whoever holds a queue to say so, in milliseconds. */
const answerWithin = 2_000;

/** For how many seconds the broker keeps what is for a subscriber without a named queue, in an outage. */
const outage = 60;

/** How many queues of others a link knows. */
const maxQueues = 10_000;

/** The broker says that nobody subscribes. */
const nobody = 0x10;

/** A link to a broker that speaks MQTT 5, over `mqtt:`, `mqtts:`, `ws:` or `wss:`. */
export async function mqttLink(url: string, options: MqttLinkOptions = {}): Promise<Link> {
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

class MqttLink implements Link {
  readonly #options: MqttLinkOptions;
  readonly #setting: MqttSetting;
  readonly #clock: Clock;
  readonly #control: ControlTopics;
  readonly #id = newId();
  readonly #states = new LinkStates('down');
  readonly #publisher: MqttPublisher;
  readonly #connection: MqttConnection;
  readonly #queues = new Map<string, MqttQueue>();
  readonly #held = new Set<string>();
  readonly #notes = new Set<(note: PeerNote) => void>();
  #closing: Promise<void> | undefined;

  constructor(connect: MqttSetting['connect'], url: string, options: MqttLinkOptions) {
    const { clock = systemClock, random = Math.random, minDelay = 100, maxDelay = 5_000 } = options;
    this.#options = options;
    this.#clock = clock;
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
      window: options.window ?? 256,
      windowBytes: options.windowBytes ?? 16_777_216,
      maxQueues,
    });
    this.#connection = new MqttConnection(
      this.#setting,
      { clientId: `p${this.#id}`, expiry: 0, receiveMaximum: 1_000 },
      {
        up: (wire) => this.#up(wire),
        ready: (wire) => {
          this.#publisher.open(wire, options.inFlight ?? 64);
          this.#states.set('up');
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

  get state(): LinkState {
    return this.#states.state;
  }

  onState(changed: (state: LinkState) => void): () => void {
    return this.#states.on(changed);
  }

  async publish(topic: string, payload: string, properties: Properties = {}): Promise<void> {
    this.#states.check();
    checkTopic(topic);
    if (this.#control.isOne(topic)) throw invalidField('topic', 'is one that links use among themselves');
    await this.#publisher.publish(topic, payload, writeTexts(properties));
  }

  async subscribe(
    patterns: string | readonly string[],
    work: (delivery: Delivery) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue: name, concurrency } = readSubscription(patterns, options);
    const isNamed = name !== undefined;
    const key = isNamed ? keyOf(name) : `u${newId()}`;
    if (this.#held.has(key)) throw queueIsHeld(name ?? key);
    this.#held.add(key);
    try {
      if (isNamed) {
        if (await this.#isHeldElsewhere(key)) throw queueIsHeld(name);
        await (await this.#wire()).subscribe(this.#control.holder(key));
      }
      const queue = new MqttQueue(this.#setting, {
        key,
        isNamed,
        patterns: list,
        formerPatterns: this.#publisher.patternsOf(key),
        expiry: isNamed ? (this.#options.queueExpiry ?? 86_400) : outage,
        concurrency,
        remembered: this.#options.remembered ?? 10_000,
        control: this.#control,
        newId,
        work,
        failed: (error) => this.#options.onError?.(error),
        announced: (entry) => this.#publisher.learn(entry),
        ended: () => {
          this.#queues.delete(key);
          this.#held.delete(key);
          if (!isNamed) this.#publisher.forget(key);
          else this.#connection.wire?.unsubscribe(this.#control.holder(key)).catch(() => {});
        },
      });
      this.#queues.set(key, queue);
      await queue.start(this.#options.connectTimeout ?? 10_000);
      const close = (): Promise<void> => queue.close();
      return { close, [Symbol.asyncDispose]: close };
    } catch (error) {
      this.#queues.delete(key);
      this.#held.delete(key);
      throw error;
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#states.set('closed');
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    await this.#publisher.close(this.#options.closeTimeout ?? 5_000);
    await this.#connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #up(wire: MqttWire): Promise<void> {
    await wire.subscribe(this.#control.peer(this.#id));
    for (const key of this.#held) await wire.subscribe(this.#control.holder(key));
    await wire.subscribe(this.#control.queues);
    // What is behind the words of all queues comes after them, and then we know them all.
    const mark = newId();
    const ready = this.#heard((note) => note.type === 'ready' && note.mark === mark, answerWithin);
    await wire.store(this.#control.peer(this.#id), JSON.stringify({ type: 'ready', mark }));
    await ready;
  }

  #arrive({ topic, payload: bytes }: IPublishPacket): void {
    const payload = bytes.toString();
    if (topic === this.#control.peer(this.#id)) {
      const note = readNote<PeerNote>(payload, ['type']);
      if (!note) return;
      for (const listen of this.#notes) listen(note);
      this.#publisher.hear(note);
      return;
    }
    const key = topic.slice(topic.lastIndexOf('/') + 1);
    if (topic === this.#control.queue(key)) {
      const entry = readNote<QueueEntry>(payload, ['key', 'patterns', 'epoch', 'expiry']);
      if (payload === '') this.#publisher.forget(key);
      else if (entry?.key === key && Array.isArray(entry.patterns)) this.#publisher.learn(entry);
    } else if (topic === this.#control.holder(key) && this.#queues.has(key)) {
      const asks = readNote<{ peer: string }>(payload, ['peer']);
      if (!asks || asks.peer === this.#id) return;
      const note: PeerNote = { type: 'held', key };
      this.#connection.wire?.publish(this.#control.peer(asks.peer), JSON.stringify(note));
    }
  }

  /** Asks whether somebody subscribes to a queue. Most brokers say at once that nobody listens. */
  async #isHeldElsewhere(key: string): Promise<boolean> {
    const wire = await this.#wire();
    const answered = this.#heard((note) => note.type === 'held' && note.key === key, answerWithin);
    const code = await wire.store(this.#control.holder(key), JSON.stringify({ peer: this.#id }));
    return code === nobody ? false : answered;
  }

  /** Waits for a note. @returns false when it did not come in time. */
  #heard(isIt: (note: PeerNote) => boolean, within: number): Promise<boolean> {
    return new Promise((resolve) => {
      const over = (answer: boolean): void => {
        stop();
        this.#notes.delete(listen);
        resolve(answer);
      };
      const listen = (note: PeerNote): void => {
        if (isIt(note)) over(true);
      };
      const stop = this.#clock.after(within, () => over(false));
      this.#notes.add(listen);
    });
  }

  /** What to write to, as soon as there is something. */
  #wire(): Promise<MqttWire> {
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
