import type { IPublishPacket } from 'mqtt';
import type { A2AError } from '../../../protocol/errors.ts';
import type { MeshMessage } from '../broker-connection.ts';
import { decodeProperties } from '../property-encoding.ts';
import { topicMatches, writeMqttPattern } from '../topic-pattern.ts';
import { MessageProcessor } from '../message-processor.ts';
import { MqttConnection, type MqttConnectionOptions, type MqttSocket } from './mqtt-connection.ts';
import {
  type ControlTopics,
  messageIdProperty,
  type PeerMessage,
  type DeliveryQuery,
  type QueueAnnouncement,
  parseMessageId,
  parsePeerMessage,
  parseNumbers,
  userProperties,
  originalTopicProperty,
} from './control-messages.ts';

/** Options of {@link MqttQueue}. */
export interface MqttQueueOptions {
  readonly key: string;
  /** Whether the broker retains the queue without a subscriber. */
  readonly isNamed: boolean;
  readonly patterns: readonly string[];
  /** Earlier patterns of the queue; those that are no longer used are unsubscribed. */
  readonly formerPatterns: readonly string[];
  /** Seconds for which the broker retains the queue. */
  readonly expiry: number;
  readonly concurrency: number;
  readonly dedupWindow: number;
  readonly control: ControlTopics;
  readonly newId: () => string;
  readonly handle: (message: MeshMessage, id: string | undefined) => void | Promise<void>;
  onError(error: unknown): void;
  /** Called when another subscriber has taken over the queue. */
  onTakenOver(error: A2AError): void;
  /** Called when the queue is announced. */
  onAnnounced(announcement: QueueAnnouncement): void;
  onClosed(): void;
  /** Returns whether another subscriber has taken over the queue. */
  readonly isTakenOver: () => Promise<boolean>;
}

/** Number of finished messages, and milliseconds, after which publishers are notified. */
const notifyAfter = 32;
const notifyDelay = 10;

/**
 * Subscription to one queue. It has its own MQTT session, because the broker limits unacknowledged messages and stores
 * queued messages per session.
 */
export class MqttQueue {
  readonly #options: MqttQueueOptions;
  readonly #connectionOptions: MqttConnectionOptions;
  readonly #connection: MqttConnection;
  readonly #processor: MessageProcessor;
  readonly #finished = new Map<string, number[]>();
  #announcement: QueueAnnouncement;
  /** Messages may arrive and finish before the connection counts as up. */
  #socket: MqttSocket | undefined;
  #cancelNotify: (() => void) | undefined;
  #stopRefresh: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(connectionOptions: MqttConnectionOptions, options: MqttQueueOptions) {
    this.#options = options;
    this.#connectionOptions = connectionOptions;
    const { key, patterns, isNamed, expiry, control } = options;
    // The announcement of an unnamed queue must survive short interruptions.
    this.#announcement = { key, patterns, epoch: '', expiry: isNamed ? expiry : expiry * 3 };
    this.#processor = new MessageProcessor({
      handle: options.handle,
      concurrency: options.concurrency,
      dedupWindow: options.dedupWindow,
      onError: (error) => options.onError(error),
      onFinished: (id) => this.#recordFinished(id),
    });
    this.#connection = new MqttConnection(
      connectionOptions,
      {
        clientId: key,
        expiry,
        receiveMaximum: options.concurrency,
        isTakenOver: options.isTakenOver,
        ...(!isNamed && {
          will: {
            topic: control.queue(key),
            payload: Buffer.alloc(0),
            qos: 1,
            retain: true,
            properties: { willDelayInterval: expiry },
          },
        }),
      },
      {
        up: (socket) => this.#onUp(socket),
        down: () => {
          this.#socket = undefined;
        },
        message: (packet, acknowledge) => this.#receive(packet, acknowledge),
        lost: (error) => {
          this.#options.onTakenOver(error);
          void this.close();
        },
      },
    );
  }

  start(timeout: number): Promise<void> {
    return this.#connection.start(timeout);
  }

  /**
   * Accepts no more messages, and waits for those in progress.
   *
   * @param idle - replaces the wait, if another member processes the remaining messages.
   */
  close(idle?: Promise<void>): Promise<void> {
    return (this.#closing ??= this.#close(idle));
  }

  async #close(idle: Promise<void> = this.#processor.close()): Promise<void> {
    this.#stopRefresh();
    await idle;
    this.#notifyPublishers();
    const { isNamed, key, control } = this.#options;
    // If the connection is down, the will does the same later.
    if (!isNamed) await this.#socket?.store(control.queue(key), '', { retain: true }).catch(() => 0);
    await this.#connection.end(isNamed ? undefined : 0);
    this.#options.onClosed();
  }

  async #onUp(socket: MqttSocket): Promise<void> {
    const { control, key, patterns, formerPatterns, newId } = this.#options;
    this.#socket = socket;
    await socket.subscribe(control.inbox(key));
    await Promise.all(patterns.map((pattern) => socket.subscribe(writeMqttPattern(pattern))));
    if (socket.isResumed) {
      const unwanted = formerPatterns.filter((pattern) => !patterns.includes(pattern));
      await Promise.all(unwanted.map((pattern) => socket.unsubscribe(writeMqttPattern(pattern))));
    }
    this.#announcement = { ...this.#announcement, epoch: newId() };
    await this.#announce(socket);
    this.#notifyPublishers();
  }

  /** Announces the queue, and again before the announcement expires. */
  async #announce(socket: MqttSocket): Promise<void> {
    const { control, key } = this.#options;
    const { expiry } = this.#announcement;
    await socket.store(control.queue(key), JSON.stringify(this.#announcement), { retain: true, expiry });
    this.#options.onAnnounced(this.#announcement);
    this.#stopRefresh();
    // Node limits timers to about 25 days.
    const delay = Math.min(expiry * 333, 2 ** 31 - 1);
    this.#stopRefresh = this.#connectionOptions.clock.after(delay, () => {
      if (this.#socket) this.#announce(this.#socket).catch(() => {});
    });
  }

  #receive(packet: IPublishPacket, acknowledge: () => void): void {
    // Unacknowledged messages stay at the broker for the next subscriber.
    if (this.#closing) return;
    const { control, key, patterns } = this.#options;
    const entries = userProperties(packet);
    let { topic } = packet;
    let redelivered = packet.dup;
    if (topic === control.inbox(key)) {
      const original = entries.find(([name]) => name === originalTopicProperty)?.[1];
      if (original === undefined) {
        this.#respondToQuery(packet.payload.toString());
        acknowledge();
        return;
      }
      topic = original;
      redelivered = true;
    }
    const id = entries.find(([name]) => name === messageIdProperty)?.[1];
    // In MQTT `a/#` also matches `a`, and queued messages may match earlier patterns only.
    if (control.includes(topic) || !patterns.some((pattern) => topicMatches(pattern, topic))) {
      acknowledge();
      if (id !== undefined) this.#recordFinished(id);
      return;
    }
    const properties = decodeProperties(
      entries.filter(([name]) => name !== messageIdProperty && name !== originalTopicProperty),
    );
    const message: MeshMessage = {
      topic,
      payload: packet.payload.toString(),
      properties,
      redelivered,
      ...(id !== undefined && { id }),
    };
    this.#processor.process(id, message, acknowledge);
  }

  /** Responds to a publisher which of its messages are finished or lost. */
  #respondToQuery(payload: string): void {
    const query = parsePeerMessage<DeliveryQuery>(payload, ['peer', 'question', 'numbers']);
    if (!query || !parseMessageId(`${query.peer}:0`)) return;
    const done: number[] = [];
    const lost: number[] = [];
    for (const number of parseNumbers(query.numbers)) {
      const status = this.#processor.statusOf(`${query.peer}:${number}`);
      if (status !== 'active') (status ? done : lost).push(number);
    }
    const { key } = this.#options;
    this.#sendTo(query.peer, { type: 'answer', key, question: query.question, done, lost });
  }

  #recordFinished(id: string): void {
    const parsed = parseMessageId(id);
    if (!parsed) return;
    const numbers = this.#finished.get(parsed.peer);
    if (numbers) numbers.push(parsed.number);
    else this.#finished.set(parsed.peer, [parsed.number]);
    if ((numbers?.length ?? 1) >= notifyAfter) this.#notifyPublishers();
    else
      this.#cancelNotify ??= this.#connectionOptions.clock.after(notifyDelay, () => this.#notifyPublishers());
  }

  #notifyPublishers(): void {
    this.#cancelNotify?.();
    this.#cancelNotify = undefined;
    if (!this.#socket) return;
    const { key } = this.#options;
    for (const [peer, numbers] of this.#finished) this.#sendTo(peer, { type: 'done', key, numbers });
    this.#finished.clear();
  }

  /** A lost control message has no effect, because the publisher queries the queue. */
  #sendTo(peer: string, message: PeerMessage): void {
    this.#socket?.publish(this.#options.control.peer(peer), JSON.stringify(message));
  }
}
