import { A2AError } from '../../../protocol/errors.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { Fifo } from '../fifo.ts';
import { SendWindow } from '../send-window.ts';
import { TopicIndex } from '../topic-pattern.ts';
import { type MqttSocket, packetTooLargeCode } from './mqtt-connection.ts';
import {
  type ControlTopics,
  messageIdProperty,
  type PeerMessage,
  type DeliveryQuery,
  type QueueAnnouncement,
  parseNumbers,
  originalTopicProperty,
} from './control-messages.ts';

/** A packet to the broker: a message, a query, or a redelivered message. */
interface OutgoingPacket {
  readonly number: number;
  readonly topic: string;
  readonly payload: string;
  readonly properties?: { readonly [name: string]: string };
  readonly settle: (error?: A2AError) => void;
}

/** A message that some queues have not finished yet. */
interface PendingMessage {
  readonly topic: string;
  readonly payload: string;
  readonly properties: { [name: string]: string };
  readonly size: number;
  number: number;
  settle(error?: A2AError): void;
}

/** A queue as the publisher knows it. */
interface RemoteQueue {
  announcement: QueueAnnouncement;
  expiresAt: number;
  /** Messages that the queue has not finished. */
  readonly unfinished: Map<number, PendingMessage>;
  size: number;
  readonly waiting: Fifo<PendingMessage>;
  /** Pending query, and when it was sent. */
  query: { question: number; at: number } | undefined;
  hasProgressed: boolean;
}

/** Options of {@link MqttPublisher}. */
export interface MqttPublisherOptions {
  readonly id: string;
  readonly control: ControlTopics;
  readonly clock: Clock;
  /** Maximum number of unfinished messages of a queue before publishers wait. */
  readonly maxUnacknowledged: number;
  /** The same limit in characters, because these messages are stored in memory. */
  readonly maxUnacknowledgedCharacters: number;
  /** Maximum number of known queues. */
  readonly maxQueues: number;
}

/** Interval at which stalled queues are checked, and timeout of a query, in milliseconds. */
const checkInterval = 5_000;
const queryTimeout = 30_000;

/** Milliseconds until a full broker is tried again, and its MQTT reason code. */
const retryDelay = 100;
const quotaExceededCode = 0x97;

/**
 * Publishes with at-least-once delivery. MQTT brokers limit the messages per queue (Mosquitto: 1,000), drop the rest
 * silently and lose queued messages in a crash. A message is therefore stored until each queue reports it as finished; a
 * slow queue applies backpressure to publishers; and a queue that reconnects is queried for lost messages, which are sent
 * again. Subscribers other than Dragoman receive messages without these guarantees.
 */
export class MqttPublisher {
  readonly #options: MqttPublisherOptions;
  readonly #queues = new Map<string, RemoteQueue>();
  readonly #index = new TopicIndex<RemoteQueue>();
  readonly #window: SendWindow<OutgoingPacket>;
  /** Messages that are not sent yet. Their queues are determined when they are sent, because queues may be added. */
  readonly #unsent = new Fifo<PendingMessage>();
  readonly #publishing = new Set<PendingMessage>();
  #socket: MqttSocket | undefined;
  #numbers = 0;
  #limit = 1;
  #stopTimer: () => void = () => {};
  #stopRetry: (() => void) | undefined;
  #onDrained: (() => void) | undefined;

  constructor(options: MqttPublisherOptions) {
    this.#options = options;
    this.#window = new SendWindow(
      (packet) => this.#send(packet),
      () => this.#sendNext(),
    );
    this.#scheduleCheck();
  }

  publish(topic: string, payload: string, properties: { [name: string]: string }): Promise<void> {
    return new Promise((resolve, reject) => {
      const message: PendingMessage = {
        topic,
        payload,
        properties,
        size: payload.length,
        number: 0,
        settle: (error) => {
          this.#publishing.delete(message);
          if (this.#publishing.size === 0) this.#onDrained?.();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#publishing.add(message);
      this.#unsent.push(message);
      this.#sendNext();
    });
  }

  /** Adds or updates an announced queue. */
  addQueue(announcement: QueueAnnouncement): void {
    const known = this.#queues.get(announcement.key);
    const expiresAt = this.#options.clock.monotonic() + announcement.expiry * 1_000;
    if (!known) {
      if (this.#queues.size >= this.#options.maxQueues) return;
      const queue: RemoteQueue = {
        announcement,
        expiresAt,
        unfinished: new Map(),
        size: 0,
        waiting: new Fifo(),
        query: undefined,
        hasProgressed: true,
      };
      this.#queues.set(announcement.key, queue);
      for (const pattern of announcement.patterns) this.#index.add(pattern, queue);
      this.#trackUnacknowledged();
      return;
    }
    for (const pattern of known.announcement.patterns) this.#index.delete(pattern, known);
    for (const pattern of announcement.patterns) this.#index.add(pattern, known);
    const hasReconnected = known.announcement.epoch !== announcement.epoch;
    known.announcement = announcement;
    known.expiresAt = expiresAt;
    this.#trackUnacknowledged();
    if (hasReconnected) this.#query(known);
  }

  /** Removes a queue and releases the messages that wait for it. */
  removeQueue(key: string): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    this.#queues.delete(key);
    for (const pattern of queue.announcement.patterns) this.#index.delete(pattern, queue);
    for (const message of queue.waiting.remove(() => true)) this.#sendOrWait(message);
  }

  /** Returns the announced patterns of a queue. */
  patternsOf(key: string): readonly string[] {
    return this.#queues.get(key)?.announcement.patterns ?? [];
  }

  /** Processes a control message of a queue. */
  receive(control: PeerMessage): void {
    if (control.type !== 'done' && control.type !== 'answer') return;
    const queue = this.#queues.get(control.key);
    if (!queue) return;
    const done = parseNumbers(control.type === 'done' ? control.numbers : control.done);
    for (const number of done) {
      const message = queue.unfinished.get(number);
      if (!message) continue;
      queue.unfinished.delete(number);
      queue.size -= message.size;
      queue.hasProgressed = true;
    }
    if (control.type === 'answer' && control.question === queue.query?.question) {
      queue.query = undefined;
      for (const number of parseNumbers(control.lost)) this.#redeliver(queue, number);
    }
    while (queue.waiting.size > 0 && this.#hasRoom(queue)) {
      const message = queue.waiting.shift();
      if (message) this.#sendOrWait(message, queue);
    }
  }

  /** Sends over a new connection, and queries which messages were lost in the interruption. */
  open(socket: MqttSocket, inFlight: number): void {
    this.#socket = socket;
    this.#limit = Math.min(inFlight, socket.receiveMaximum);
    this.#window.open(this.#limit);
    for (const queue of this.#queues.values()) this.#query(queue);
  }

  pause(): void {
    this.#socket = undefined;
    this.#window.pause();
  }

  /** Waits until the broker has stored all messages, at most `timeout` milliseconds. */
  async close(timeout: number): Promise<void> {
    if (this.#publishing.size > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#options.clock.after(timeout, resolve);
        this.#onDrained = () => {
          stopTimer();
          resolve();
        };
      });
    }
    this.#stopTimer();
    this.#stopRetry?.();
    this.#window.clear();
    const error = new A2AError(
      'UNAVAILABLE',
      'The connection was closed before the broker stored the message',
    );
    for (const message of this.#publishing) message.settle(error);
  }

  #hasRoom(queue: RemoteQueue): boolean {
    const { maxUnacknowledged, maxUnacknowledgedCharacters } = this.#options;
    return queue.unfinished.size < maxUnacknowledged && queue.size < maxUnacknowledgedCharacters;
  }

  /** Sends a message, or appends it to the waiting messages of the first queue without room. */
  #sendOrWait(message: PendingMessage, from?: RemoteQueue): void {
    for (const queue of this.#index.match(message.topic)) {
      if (this.#hasRoom(queue) && (queue === from || queue.waiting.size === 0)) continue;
      queue.waiting.push(message);
      return;
    }
    message.number = ++this.#numbers;
    message.properties[messageIdProperty] = `${this.#options.id}:${message.number}`;
    this.#track(message);
    this.#window.push(message);
  }

  #sendNext(): void {
    while (this.#window.hasRoom) {
      const message = this.#unsent.shift();
      if (!message) return;
      this.#sendOrWait(message);
    }
  }

  /** Stores a message until all matching queues have finished it. */
  #track(message: PendingMessage): void {
    for (const queue of this.#index.match(message.topic)) {
      if (queue.unfinished.has(message.number)) continue;
      queue.unfinished.set(message.number, message);
      queue.size += message.size;
    }
  }

  /** A new queue also receives messages that the broker has not acknowledged yet. */
  #trackUnacknowledged(): void {
    for (const packet of this.#window.unacknowledged())
      if ('size' in packet) this.#track(packet as PendingMessage);
  }

  #redeliver({ announcement, unfinished }: RemoteQueue, number: number): void {
    const message = unfinished.get(number);
    if (!message) return;
    this.#window.push({
      number: ++this.#numbers,
      topic: this.#options.control.inbox(announcement.key),
      payload: message.payload,
      properties: { ...message.properties, [originalTopicProperty]: message.topic },
      settle: () => {},
    });
  }

  /** Queries which messages a queue has not received. The query is sent after them, so that it arrives after them. */
  #query(queue: RemoteQueue): void {
    if (queue.unfinished.size === 0) return;
    const question = ++this.#numbers;
    queue.query = { question, at: this.#options.clock.monotonic() };
    const query: DeliveryQuery = { peer: this.#options.id, question, numbers: [...queue.unfinished.keys()] };
    this.#window.push({
      number: question,
      topic: this.#options.control.inbox(queue.announcement.key),
      payload: JSON.stringify(query),
      settle: () => {},
    });
  }

  #send(packet: OutgoingPacket): void {
    if ('size' in packet) this.#track(packet as PendingMessage);
    this.#socket?.publish(packet.topic, packet.payload, { texts: packet.properties }, (code, error) => {
      if (code === quotaExceededCode) {
        this.#retryLater(packet);
        return;
      }
      this.#window.remove(packet.number);
      if (code < 0x80) packet.settle();
      else this.#reject(packet, code, error);
    });
  }

  /** Some brokers report that a queue is full; the packet is sent again then. */
  #retryLater(packet: OutgoingPacket): void {
    this.#window.requeue(packet.number);
    this.#stopRetry ??= this.#options.clock.after(retryDelay, () => {
      this.#stopRetry = undefined;
      if (this.#socket) this.#window.open(this.#limit);
    });
  }

  #reject({ number, topic, settle }: OutgoingPacket, code: number, cause: Error | undefined): void {
    for (const queue of this.#queues.values()) {
      const message = queue.unfinished.get(number);
      if (message && queue.unfinished.delete(number)) queue.size -= message.size;
    }
    settle(
      code === packetTooLargeCode
        ? new A2AError('PAYLOAD_TOO_LARGE', `A message to ${topic} exceeds the size limit of the broker`, {
            cause,
            hint: 'Raise the limit of the broker, or send large content as an artifact.',
          })
        : new A2AError('PERMISSION_DENIED', `The broker rejected a message to ${topic} (code ${code})`, {
            cause,
            hint: 'Check the access control of the broker.',
          }),
    );
  }

  /** Removes expired queues, and queries queues without progress. */
  #scheduleCheck(): void {
    const { clock } = this.#options;
    this.#stopTimer = clock.after(checkInterval, () => {
      const now = clock.monotonic();
      for (const queue of this.#queues.values()) {
        if (queue.expiresAt < now) this.removeQueue(queue.announcement.key);
        else if (this.#socket && !queue.hasProgressed && now - (queue.query?.at ?? -Infinity) >= queryTimeout)
          this.#query(queue);
        queue.hasProgressed = false;
      }
      this.#scheduleCheck();
    });
  }
}
