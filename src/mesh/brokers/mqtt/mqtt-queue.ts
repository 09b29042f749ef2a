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
  /** Whether the broker keeps it when its subscriber is gone. */
  readonly isNamed: boolean;
  readonly patterns: readonly string[];
  /** What it was for before; those that are not wanted any more are let go. */
  readonly formerPatterns: readonly string[];
  /** For how many seconds the broker keeps it. */
  readonly expiry: number;
  readonly concurrency: number;
  readonly remembered: number;
  readonly control: ControlTopics;
  readonly newId: () => string;
  readonly work: (delivery: MeshMessage, id: string | undefined) => void | Promise<void>;
  failed(error: unknown): void;
  /** Somebody else has the queue now. */
  taken(error: A2AError): void;
  /** The queue is there, or there again. */
  announced(entry: QueueAnnouncement): void;
  ended(): void;
  /** Whether somebody else subscribes to it by now. */
  readonly isTaken: () => Promise<boolean>;
}

/** After how many finished messages, or milliseconds, publishers are told. */
const tellAfter = 32;
const tellWithin = 10;

/**
 * A queue of ours at the broker: a session of its own, because the broker counts what is not acknowledged for each
 * session, and what waits belongs to it.
 */
export class MqttQueue {
  readonly #options: MqttQueueOptions;
  readonly #setting: MqttConnectionOptions;
  readonly #connection: MqttConnection;
  readonly #bench: MessageProcessor;
  readonly #finished = new Map<string, number[]>();
  #entry: QueueAnnouncement;
  /** Messages come, and are done, before the connection counts as up. */
  #wire: MqttSocket | undefined;
  #stopTelling: (() => void) | undefined;
  #stopRefresh: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(setting: MqttConnectionOptions, options: MqttQueueOptions) {
    this.#options = options;
    this.#setting = setting;
    const { key, patterns, isNamed, expiry, control } = options;
    // A queue without a name lives as long as its connection, but an outage may be longer than a moment.
    this.#entry = { key, patterns, epoch: '', expiry: isNamed ? expiry : expiry * 3 };
    this.#bench = new MessageProcessor({
      work: options.work,
      concurrency: options.concurrency,
      remembered: options.remembered,
      failed: (error) => options.failed(error),
      done: (id) => this.#finish(id),
    });
    this.#connection = new MqttConnection(
      setting,
      {
        clientId: key,
        expiry,
        receiveMaximum: options.concurrency,
        isTaken: options.isTaken,
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
        up: (wire) => this.#up(wire),
        down: () => {
          this.#wire = undefined;
        },
        message: (packet, acknowledge) => this.#arrive(packet, acknowledge),
        lost: (error) => {
          this.#options.taken(error);
          void this.close();
        },
      },
    );
  }

  start(patience: number): Promise<void> {
    return this.#connection.start(patience);
  }

  /**
   * Takes no more, and waits for the work on what was taken.
   *
   * @param idle - when that is not the end of all work, because somebody else has the rest.
   */
  close(idle?: Promise<void>): Promise<void> {
    return (this.#closing ??= this.#close(idle));
  }

  async #close(idle: Promise<void> = this.#bench.close()): Promise<void> {
    this.#stopRefresh();
    await idle;
    this.#tell();
    const { isNamed, key, control } = this.#options;
    // A will says the same later if the connection is gone.
    if (!isNamed) await this.#wire?.store(control.queue(key), '', { retain: true }).catch(() => 0);
    await this.#connection.end(isNamed ? undefined : 0);
    this.#options.ended();
  }

  async #up(wire: MqttSocket): Promise<void> {
    const { control, key, patterns, formerPatterns, newId } = this.#options;
    this.#wire = wire;
    await wire.subscribe(control.inbox(key));
    await Promise.all(patterns.map((pattern) => wire.subscribe(writeMqttPattern(pattern))));
    if (wire.isResumed) {
      const unwanted = formerPatterns.filter((pattern) => !patterns.includes(pattern));
      await Promise.all(unwanted.map((pattern) => wire.unsubscribe(writeMqttPattern(pattern))));
    }
    this.#entry = { ...this.#entry, epoch: newId() };
    await this.#announce(wire);
    this.#tell();
  }

  /** Says that the queue is there, and says it again before anybody could forget it. */
  async #announce(wire: MqttSocket): Promise<void> {
    const { control, key } = this.#options;
    const { expiry } = this.#entry;
    await wire.store(control.queue(key), JSON.stringify(this.#entry), { retain: true, expiry });
    this.#options.announced(this.#entry);
    this.#stopRefresh();
    // Timers of Node end before 25 days.
    const pause = Math.min(expiry * 333, 2 ** 31 - 1);
    this.#stopRefresh = this.#setting.clock.after(pause, () => {
      if (this.#wire) this.#announce(this.#wire).catch(() => {});
    });
  }

  #arrive(packet: IPublishPacket, acknowledge: () => void): void {
    // What comes after the end was not taken: the broker keeps it for whoever comes next.
    if (this.#closing) return;
    const { control, key, patterns } = this.#options;
    const texts = userProperties(packet);
    let { topic } = packet;
    let isAgain = packet.dup;
    if (topic === control.inbox(key)) {
      const original = texts.find(([name]) => name === originalTopicProperty)?.[1];
      if (original === undefined) {
        this.#answer(packet.payload.toString());
        acknowledge();
        return;
      }
      topic = original;
      isAgain = true;
    }
    const id = texts.find(([name]) => name === messageIdProperty)?.[1];
    // MQTT takes `a` for `a/#`, and a queue may have been for something else when this was put into it.
    if (control.isOne(topic) || !patterns.some((pattern) => topicMatches(pattern, topic))) {
      acknowledge();
      if (id !== undefined) this.#finish(id);
      return;
    }
    const properties = decodeProperties(
      texts.filter(([name]) => name !== messageIdProperty && name !== originalTopicProperty),
    );
    const delivery: MeshMessage = {
      topic,
      payload: packet.payload.toString(),
      properties,
      redelivered: isAgain,
    };
    this.#bench.take(id, delivery, acknowledge);
  }

  /** Tells a publisher what became of its messages. */
  #answer(payload: string): void {
    const asked = parsePeerMessage<DeliveryQuery>(payload, ['peer', 'question', 'numbers']);
    if (!asked || !parseMessageId(`${asked.peer}:0`)) return;
    const done: number[] = [];
    const lost: number[] = [];
    for (const number of parseNumbers(asked.numbers)) {
      const known = this.#bench.knows(`${asked.peer}:${number}`);
      if (known !== 'active') (known ? done : lost).push(number);
    }
    const { key } = this.#options;
    this.#note(asked.peer, { type: 'answer', key, question: asked.question, done, lost });
  }

  #finish(id: string): void {
    const read = parseMessageId(id);
    if (!read) return;
    const numbers = this.#finished.get(read.peer);
    if (numbers) numbers.push(read.number);
    else this.#finished.set(read.peer, [read.number]);
    if ((numbers?.length ?? 1) >= tellAfter) this.#tell();
    else this.#stopTelling ??= this.#setting.clock.after(tellWithin, () => this.#tell());
  }

  #tell(): void {
    this.#stopTelling?.();
    this.#stopTelling = undefined;
    if (!this.#wire) return;
    const { key } = this.#options;
    for (const [peer, numbers] of this.#finished) this.#note(peer, { type: 'done', key, numbers });
    this.#finished.clear();
  }

  /** A note that is lost does no harm: the publisher asks. */
  #note(peer: string, note: PeerMessage): void {
    this.#wire?.publish(this.#options.control.peer(peer), JSON.stringify(note));
  }
}
