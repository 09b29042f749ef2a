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

/** Something on its way to the broker: a message, a question, or a message again. */
interface OutgoingPacket {
  readonly number: number;
  readonly topic: string;
  readonly payload: string;
  readonly texts?: { readonly [name: string]: string };
  readonly settle: (error?: A2AError) => void;
}

/** A message, and the queues that have not said that they are done with it. */
interface PendingMessage {
  readonly topic: string;
  readonly payload: string;
  readonly texts: { [name: string]: string };
  readonly size: number;
  number: number;
  settle(error?: A2AError): void;
}

/** A queue as the publisher knows it. */
interface RemoteQueue {
  entry: QueueAnnouncement;
  expiresAt: number;
  /** What the queue is not done with. */
  readonly open: Map<number, PendingMessage>;
  size: number;
  readonly waiting: Fifo<PendingMessage>;
  /** The question that was not answered yet, and when it was asked. */
  asked: { question: number; at: number } | undefined;
  hasMoved: boolean;
}

/** Options of {@link MqttPublisher}. */
export interface MqttPublisherOptions {
  readonly id: string;
  readonly control: ControlTopics;
  readonly clock: Clock;
  /** How many messages one queue may be behind before whoever publishes waits. */
  readonly window: number;
  /** The same in bytes, because these are kept here. */
  readonly windowBytes: number;
  /** How many queues are known at most. */
  readonly maxQueues: number;
}

/** How often it is looked for queues that have not moved, and how long an answer may take, in milliseconds. */
const checkEvery = 5_000;
const answerWithin = 30_000;

/** How long one waits before a full broker is tried again, in milliseconds, and how it says that it is full. */
const fullPause = 100;
const quotaExceeded = 0x97;

/**
 * Publishes without loss. A broker has room for so many messages per queue (Mosquitto: 1,000) and drops the rest
 * without a word, or forgets everything when it crashes. So a message is kept until each queue it is for has said that
 * it is done; a queue that is far behind makes publishers wait; and a queue that was away is asked what it has not got,
 * which is then sent again. Subscribers that do not speak of themselves get messages as from anybody.
 */
export class MqttPublisher {
  readonly #options: MqttPublisherOptions;
  readonly #remotes = new Map<string, RemoteQueue>();
  readonly #index = new TopicIndex<RemoteQueue>();
  readonly #outbox: SendWindow<OutgoingPacket>;
  /** What waits for its turn. For whom a message is is decided when it goes: meanwhile there may be more queues. */
  readonly #arrived = new Fifo<PendingMessage>();
  readonly #publishing = new Set<PendingMessage>();
  #wire: MqttSocket | undefined;
  #numbers = 0;
  #limit = 1;
  #stopTimer: () => void = () => {};
  #stopPause: (() => void) | undefined;
  #drained: (() => void) | undefined;

  constructor(options: MqttPublisherOptions) {
    this.#options = options;
    this.#outbox = new SendWindow(
      (parcel) => this.#send(parcel),
      () => this.#pump(),
    );
    this.#tick();
  }

  publish(topic: string, payload: string, texts: { [name: string]: string }): Promise<void> {
    return new Promise((resolve, reject) => {
      const letter: PendingMessage = {
        topic,
        payload,
        texts,
        size: payload.length,
        number: 0,
        settle: (error) => {
          this.#publishing.delete(letter);
          if (this.#publishing.size === 0) this.#drained?.();
          if (error) reject(error);
          else resolve();
        },
      };
      this.#publishing.add(letter);
      this.#arrived.push(letter);
      this.#pump();
    });
  }

  /** What a queue says of itself. */
  learn(entry: QueueAnnouncement): void {
    const known = this.#remotes.get(entry.key);
    const expiresAt = this.#options.clock.now() + entry.expiry * 1_000;
    if (!known) {
      if (this.#remotes.size >= this.#options.maxQueues) return;
      const remote: RemoteQueue = {
        entry,
        expiresAt,
        open: new Map(),
        size: 0,
        waiting: new Fifo(),
        asked: undefined,
        hasMoved: true,
      };
      this.#remotes.set(entry.key, remote);
      for (const pattern of entry.patterns) this.#index.add(pattern, remote);
      this.#trackFlying();
      return;
    }
    for (const pattern of known.entry.patterns) this.#index.delete(pattern, known);
    for (const pattern of entry.patterns) this.#index.add(pattern, known);
    const isBack = known.entry.epoch !== entry.epoch;
    known.entry = entry;
    known.expiresAt = expiresAt;
    this.#trackFlying();
    if (isBack) this.#ask(known);
  }

  /** A queue is no more: nothing waits for it. */
  forget(key: string): void {
    const remote = this.#remotes.get(key);
    if (!remote) return;
    this.#remotes.delete(key);
    for (const pattern of remote.entry.patterns) this.#index.delete(pattern, remote);
    for (const letter of remote.waiting.remove(() => true)) this.#admit(letter);
  }

  /** What a queue was last said to be for. */
  patternsOf(key: string): readonly string[] {
    return this.#remotes.get(key)?.entry.patterns ?? [];
  }

  /** What queues answer. */
  hear(note: PeerMessage): void {
    if (note.type !== 'done' && note.type !== 'answer') return;
    const remote = this.#remotes.get(note.key);
    if (!remote) return;
    const done = parseNumbers(note.type === 'done' ? note.numbers : note.done);
    for (const number of done) {
      const letter = remote.open.get(number);
      if (!letter) continue;
      remote.open.delete(number);
      remote.size -= letter.size;
      remote.hasMoved = true;
    }
    if (note.type === 'answer' && note.question === remote.asked?.question) {
      remote.asked = undefined;
      for (const number of parseNumbers(note.lost)) this.#sendAgain(remote, number);
    }
    while (remote.waiting.size > 0 && this.#hasRoom(remote)) {
      const letter = remote.waiting.shift();
      if (letter) this.#admit(letter, remote);
    }
  }

  /** There is a connection; what an outage may have swallowed is asked for. */
  open(wire: MqttSocket, inFlight: number): void {
    this.#wire = wire;
    this.#limit = Math.min(inFlight, wire.receiveMaximum);
    this.#outbox.open(this.#limit);
    for (const remote of this.#remotes.values()) this.#ask(remote);
  }

  pause(): void {
    this.#wire = undefined;
    this.#outbox.pause();
  }

  /** Waits, but not for ever, until the broker has everything. */
  async close(timeout: number): Promise<void> {
    if (this.#publishing.size > 0) {
      await new Promise<void>((resolve) => {
        const stop = this.#options.clock.after(timeout, resolve);
        this.#drained = () => {
          stop();
          resolve();
        };
      });
    }
    this.#stopTimer();
    this.#stopPause?.();
    this.#outbox.clear();
    const error = new A2AError('UNAVAILABLE', 'The link was closed before the broker had the message');
    for (const letter of this.#publishing) letter.settle(error);
  }

  #hasRoom(remote: RemoteQueue): boolean {
    return remote.open.size < this.#options.window && remote.size < this.#options.windowBytes;
  }

  /** Sends a message, or lets it wait behind others for the first queue that has no room. */
  #admit(letter: PendingMessage, from?: RemoteQueue): void {
    const remotes = this.#index.match(letter.topic);
    for (const remote of remotes) {
      if (this.#hasRoom(remote) && (remote === from || remote.waiting.size === 0)) continue;
      remote.waiting.push(letter);
      return;
    }
    letter.number = ++this.#numbers;
    letter.texts[messageIdProperty] = `${this.#options.id}:${letter.number}`;
    this.#track(letter);
    this.#outbox.push(letter);
  }

  #pump(): void {
    while (this.#outbox.isFree) {
      const letter = this.#arrived.shift();
      if (!letter) return;
      this.#admit(letter);
    }
  }

  /** Keeps a message until every queue that it is for is done with it. */
  #track(letter: PendingMessage): void {
    for (const remote of this.#index.match(letter.topic)) {
      if (remote.open.has(letter.number)) continue;
      remote.open.set(letter.number, letter);
      remote.size += letter.size;
    }
  }

  /** What the broker takes after it told us of a queue is for that queue too; it has not said yet that it took it. */
  #trackFlying(): void {
    for (const parcel of this.#outbox.flying()) if ('size' in parcel) this.#track(parcel as PendingMessage);
  }

  #sendAgain({ entry, open }: RemoteQueue, number: number): void {
    const letter = open.get(number);
    if (!letter) return;
    this.#outbox.push({
      number: ++this.#numbers,
      topic: this.#options.control.inbox(entry.key),
      payload: letter.payload,
      texts: { ...letter.texts, [originalTopicProperty]: letter.topic },
      settle: () => {},
    });
  }

  /** Asks a queue what it has not got. The question goes behind what was sent, so it arrives after it. */
  #ask(remote: RemoteQueue): void {
    if (remote.open.size === 0) return;
    const question = ++this.#numbers;
    remote.asked = { question, at: this.#options.clock.now() };
    const note: DeliveryQuery = { peer: this.#options.id, question, numbers: [...remote.open.keys()] };
    this.#outbox.push({
      number: question,
      topic: this.#options.control.inbox(remote.entry.key),
      payload: JSON.stringify(note),
      settle: () => {},
    });
  }

  #send(parcel: OutgoingPacket): void {
    if ('size' in parcel) this.#track(parcel as PendingMessage);
    this.#wire?.publish(parcel.topic, parcel.payload, { texts: parcel.texts }, (code, error) => {
      if (code === quotaExceeded) {
        this.#holdOff(parcel);
        return;
      }
      this.#outbox.settle(parcel.number);
      if (code < 0x80) parcel.settle();
      else this.#refuse(parcel, code, error);
    });
  }

  /** Some brokers do say that a queue is full; then it is tried again. */
  #holdOff(parcel: OutgoingPacket): void {
    this.#outbox.putBack(parcel.number);
    this.#stopPause ??= this.#options.clock.after(fullPause, () => {
      this.#stopPause = undefined;
      if (this.#wire) this.#outbox.open(this.#limit);
    });
  }

  #refuse({ number, topic, settle }: OutgoingPacket, code: number, cause: Error | undefined): void {
    for (const remote of this.#remotes.values()) {
      const letter = remote.open.get(number);
      if (letter && remote.open.delete(number)) remote.size -= letter.size;
    }
    settle(
      code === packetTooLargeCode
        ? new A2AError('PAYLOAD_TOO_LARGE', `A message to ${topic} is larger than the broker takes`, {
            cause,
            hint: 'Raise the limit of the broker, or send large content as an artifact.',
          })
        : new A2AError('PERMISSION_DENIED', `The broker did not take a message to ${topic} (code ${code})`, {
            cause,
            hint: 'Look at the access rules of the broker.',
          }),
    );
  }

  /** Looks for queues that have expired, and for those that owe messages or answers for too long. */
  #tick(): void {
    const { clock } = this.#options;
    this.#stopTimer = clock.after(checkEvery, () => {
      const now = clock.now();
      for (const remote of this.#remotes.values()) {
        if (remote.expiresAt < now) this.forget(remote.entry.key);
        else if (this.#wire && !remote.hasMoved && now - (remote.asked?.at ?? 0) >= answerWithin)
          this.#ask(remote);
        remote.hasMoved = false;
      }
      this.#tick();
    });
  }
}
