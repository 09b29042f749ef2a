import type { IPublishPacket } from 'mqtt';
import type { MeshMessage } from '../broker-connection.ts';
import { decodeProperties, encodeProperties } from '../property-encoding.ts';
import { queueInUseError } from '../queue-key.ts';
import { MessageProcessor } from '../message-processor.ts';
import type { MqttSocket } from './mqtt-connection.ts';
import {
  type ControlTopics,
  messageIdProperty,
  type PeerMessage,
  parsePeerMessage,
  userProperties,
  originalTopicProperty,
} from './control-messages.ts';
import type { MqttQueue } from './mqtt-queue.ts';
import { type QueueJob, QueueCoordinator } from './queue-coordinator.ts';

/** The property that says that a message may have been delivered before. */
const againName = 'dragoman-again';

/** What somebody who shares a queue says to whoever has it. */
interface ShareNote {
  readonly member: string;
  readonly peer: string;
  readonly join?: number;
  readonly leave?: true;
  readonly finished?: string;
}

/** What a share needs of its link. */
export interface SharedSubscriptionHost {
  readonly peer: string;
  readonly control: ControlTopics;
  /** What to write to, as soon as there is something. */
  wire(): Promise<MqttSocket>;
  /** What to write to now, if there is something. */
  readonly current: MqttSocket | undefined;
  /** Publishes, and waits for a note that answers it. Undefined when none came. */
  ask(
    topic: string,
    payload: string,
    isAnswer: (note: PeerMessage) => boolean,
  ): Promise<PeerMessage | undefined>;
  /** Answers from now on for a queue, and has it. @param taken - called when somebody else took it. */
  open(share: SharedSubscription, holder: QueueCoordinator, taken: () => void): Promise<MqttQueue>;
  /** Stops answering for a queue. */
  release(key: string): void;
  after(milliseconds: number, run: () => void): () => void;
  failed(error: unknown): void;
}

/** Options of {@link SharedSubscription}. */
export interface SharedSubscriptionOptions {
  readonly name: string;
  readonly key: string;
  readonly member: string;
  readonly patterns: readonly string[];
  readonly concurrency: number;
  readonly remembered: number;
  readonly work: (delivery: MeshMessage) => void | Promise<void>;
  ended(): void;
}

/** How much later the next one tries to have a queue whose holder is gone, in milliseconds. */
const patience = 200;

/** One of those who share a queue: it has the queue and shares it out, or gets its share of whoever has. */
export class SharedSubscription {
  readonly options: SharedSubscriptionOptions;
  readonly #host: SharedSubscriptionHost;
  readonly #bench: MessageProcessor;
  #holder: QueueCoordinator | undefined;
  #queue: MqttQueue | undefined;
  #holderPeer: string | undefined;
  #rank = 0;
  #stopPause: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(host: SharedSubscriptionHost, options: SharedSubscriptionOptions) {
    this.#host = host;
    this.options = options;
    const { work, concurrency, remembered } = options;
    this.#bench = new MessageProcessor({
      work: (delivery) => work(delivery),
      concurrency,
      remembered,
      failed: (error) => host.failed(error),
    });
  }

  async start(): Promise<void> {
    const wire = await this.#host.wire();
    await wire.subscribe(this.#host.control.member(this.options.member));
    await wire.subscribe(this.#host.control.gone('+'));
    await this.#join();
  }

  /** The link is back: we may have missed messages, or the answers to them. */
  async again(wire: MqttSocket): Promise<void> {
    await wire.subscribe(this.#host.control.member(this.options.member));
    await wire.subscribe(this.#host.control.gone('+'));
    if (this.#holder) this.#holder.repeat();
    else this.#rejoin(0);
  }

  /** A process is gone. */
  gone(peer: string): void {
    this.#holder?.gone(peer);
    if (peer === this.#holderPeer) this.#rejoin(this.#rank);
  }

  /** Whoever had the queue has left in peace. */
  resigned(): void {
    if (!this.#holder) this.#rejoin(this.#rank);
  }

  /** What members say to us, who have the queue. */
  hear(payload: string): void {
    const note = parsePeerMessage<ShareNote>(payload, ['member', 'peer']);
    const holder = this.#holder;
    if (!note || !holder || !isName(note.member) || !isName(note.peer)) return;
    const { member, peer, join, leave, finished } = note;
    if (typeof join === 'number' && join >= 1) {
      const rank = holder.join(member, peer, join, (job) => this.#forward(member, job));
      this.#tell(peer, { type: 'joined', key: this.options.key, member, rank, holder: this.#host.peer });
    }
    if (leave) holder.leave(member);
    if (typeof finished === 'string') holder.finish(member, finished);
  }

  /** A message that whoever has the queue gave us. */
  arrive(packet: IPublishPacket): void {
    const texts = userProperties(packet);
    const of = (name: string): string | undefined => texts.find(([other]) => other === name)?.[1];
    const id = of(messageIdProperty);
    const topic = of(originalTopicProperty);
    if (id === undefined || topic === undefined) return;
    const ours = [messageIdProperty, originalTopicProperty, againName];
    const delivery: MeshMessage = {
      topic,
      payload: packet.payload.toString(),
      properties: decodeProperties(texts.filter(([name]) => !ours.includes(name))),
      redelivered: of(againName) !== undefined,
    };
    this.#bench.take(id, delivery, () => this.#say({ finished: id }));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#stopPause();
    const { member, key } = this.options;
    const holder = this.#holder;
    if (holder) {
      const idle = holder.close();
      await this.#queue?.close(idle);
      this.#host.release(key);
      for (const peer of new Set(holder.peers)) this.#tell(peer, { type: 'resigned', key });
    } else {
      this.#say({ leave: true });
      await this.#bench.close();
    }
    await this.#host.current?.unsubscribe(this.#host.control.member(member)).catch(() => {});
    this.options.ended();
  }

  async #join(): Promise<void> {
    const { key, member, name, concurrency } = this.options;
    const { peer, control } = this.#host;
    const note: ShareNote = { member, peer, join: concurrency };
    const answer = await this.#host.ask(
      control.holder(key),
      JSON.stringify(note),
      (heard) =>
        (heard.type === 'joined' && heard.member === member) || (heard.type === 'held' && heard.key === key),
    );
    if (answer?.type === 'held') throw queueInUseError(name);
    if (answer?.type === 'joined') {
      this.#holderPeer = answer.holder;
      this.#rank = answer.rank;
    } else if (!this.#closing) await this.#lead();
  }

  async #lead(): Promise<void> {
    const holder = new QueueCoordinator();
    const { member, concurrency } = this.options;
    this.#holder = holder;
    this.#holderPeer = undefined;
    holder.join(member, this.#host.peer, concurrency, (job) => {
      const delivery = { ...job.delivery, redelivered: job.isAgain };
      this.#bench.take(job.id, delivery, () => holder.finish(member, job.id));
    });
    try {
      this.#queue = await this.#host.open(this, holder, () => {
        this.#step();
        this.#rejoin(0);
      });
    } catch (error) {
      this.#step();
      throw error;
    }
  }

  /** Has the queue no more. */
  #step(): void {
    this.#holder = undefined;
    this.#queue = undefined;
    this.#host.release(this.options.key);
  }

  /** Looks for whoever has the queue now, or has it; those who came first try first. */
  #rejoin(rank: number): void {
    this.#holderPeer = undefined;
    this.#stopPause();
    if (this.#closing) return;
    this.#stopPause = this.#host.after(Math.max(0, rank - 1) * patience, () => {
      this.#join().catch((error: unknown) => {
        // A broker that is gone comes back, and then the link says so.
        if (this.#host.current) this.#host.failed(error);
      });
    });
  }

  #forward(member: string, { id, delivery, isAgain }: QueueJob): void {
    const { topic, payload, properties } = delivery;
    const texts = {
      ...encodeProperties(properties),
      [messageIdProperty]: id,
      [originalTopicProperty]: topic,
    };
    this.#host.current?.publish(this.#host.control.member(member), payload, {
      texts: isAgain ? { ...texts, [againName]: '1' } : texts,
    });
  }

  #say(what: Pick<ShareNote, 'leave' | 'finished'>): void {
    const note: ShareNote = { member: this.options.member, peer: this.#host.peer, ...what };
    this.#host.current?.publish(this.#host.control.holder(this.options.key), JSON.stringify(note));
  }

  #tell(peer: string, note: PeerMessage): void {
    this.#host.current?.publish(this.#host.control.peer(peer), JSON.stringify(note));
  }
}

const isName = (text: unknown): boolean => typeof text === 'string' && /^[\w-]{1,64}$/.test(text);
