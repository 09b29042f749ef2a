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

/** User property of a message that may have been delivered before. */
const redeliveredProperty = 'dragoman-redelivered';

/** Control message of a member to the coordinator of a shared queue. */
interface MemberMessage {
  readonly member: string;
  readonly peer: string;
  readonly join?: number;
  readonly leave?: true;
  readonly finished?: string;
}

/** Operations of the broker connection that a shared subscription uses. */
export interface SharedSubscriptionHost {
  readonly peer: string;
  readonly control: ControlTopics;
  /** Returns the socket, or waits for the connection. */
  socket(): Promise<MqttSocket>;
  /** Current socket; undefined while the connection is down. */
  readonly currentSocket: MqttSocket | undefined;
  /** Publishes a query and waits for its response; undefined after a timeout. */
  query(
    topic: string,
    payload: string,
    isResponse: (message: PeerMessage) => boolean,
  ): Promise<PeerMessage | undefined>;
  /** Opens the queue as its coordinator. @param onTakenOver - called when another subscriber takes it over. */
  open(share: SharedSubscription, coordinator: QueueCoordinator, onTakenOver: () => void): Promise<MqttQueue>;
  /** Stops coordinating a queue. */
  release(key: string): void;
  after(milliseconds: number, run: () => void): () => void;
  onError(error: unknown): void;
}

/** Options of {@link SharedSubscription}. */
export interface SharedSubscriptionOptions {
  readonly name: string;
  readonly key: string;
  readonly member: string;
  readonly patterns: readonly string[];
  readonly concurrency: number;
  readonly dedupWindow: number;
  readonly handle: (message: MeshMessage) => void | Promise<void>;
  onClosed(): void;
}

/** Milliseconds per rank by which members delay taking over a queue whose coordinator is gone. */
const takeoverDelay = 200;

/** Member of a shared queue: it coordinates the queue, or receives messages from its coordinator. */
export class SharedSubscription {
  readonly options: SharedSubscriptionOptions;
  readonly #host: SharedSubscriptionHost;
  readonly #processor: MessageProcessor;
  #coordinator: QueueCoordinator | undefined;
  #queue: MqttQueue | undefined;
  #coordinatorPeer: string | undefined;
  #rank = 0;
  #cancelRejoin: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(host: SharedSubscriptionHost, options: SharedSubscriptionOptions) {
    this.#host = host;
    this.options = options;
    const { handle, concurrency, dedupWindow } = options;
    this.#processor = new MessageProcessor({
      handle: (message) => handle(message),
      concurrency,
      dedupWindow,
      onError: (error) => host.onError(error),
    });
  }

  async start(): Promise<void> {
    const socket = await this.#host.socket();
    await socket.subscribe(this.#host.control.member(this.options.member));
    await socket.subscribe(this.#host.control.gone('+'));
    await this.#join();
  }

  /** Restores the subscription after a reconnect, in which messages or responses may have been lost. */
  async resume(socket: MqttSocket): Promise<void> {
    await socket.subscribe(this.#host.control.member(this.options.member));
    await socket.subscribe(this.#host.control.gone('+'));
    if (this.#coordinator) this.#coordinator.redeliver();
    else this.#rejoin(0);
  }

  /** Handles the crash of a process. */
  peerGone(peer: string): void {
    this.#coordinator?.removePeer(peer);
    if (peer === this.#coordinatorPeer) this.#rejoin(this.#rank);
  }

  /** Handles the regular departure of the coordinator. */
  coordinatorResigned(): void {
    if (!this.#coordinator) this.#rejoin(this.#rank);
  }

  /** Processes a control message of a member, as coordinator. */
  receiveMemberMessage(payload: string): void {
    const message = parsePeerMessage<MemberMessage>(payload, ['member', 'peer']);
    const coordinator = this.#coordinator;
    if (!message || !coordinator || !isIdentifier(message.member) || !isIdentifier(message.peer)) return;
    const { member, peer, join, leave, finished } = message;
    if (typeof join === 'number' && join >= 1) {
      const rank = coordinator.join(member, peer, join, (job) => this.#forward(member, job));
      this.#sendToPeer(peer, {
        type: 'joined',
        key: this.options.key,
        member,
        rank,
        holder: this.#host.peer,
      });
    }
    if (leave) coordinator.leave(member);
    if (typeof finished === 'string') coordinator.finish(member, finished);
  }

  /** Processes a message that the coordinator forwarded. */
  receive(packet: IPublishPacket): void {
    const entries = userProperties(packet);
    const find = (name: string): string | undefined => entries.find(([other]) => other === name)?.[1];
    const id = find(messageIdProperty);
    const topic = find(originalTopicProperty);
    if (id === undefined || topic === undefined) return;
    const internal = [messageIdProperty, originalTopicProperty, redeliveredProperty];
    const message: MeshMessage = {
      topic,
      payload: packet.payload.toString(),
      properties: decodeProperties(entries.filter(([name]) => !internal.includes(name))),
      redelivered: find(redeliveredProperty) !== undefined,
      id,
    };
    this.#processor.process(id, message, () => this.#sendToCoordinator({ finished: id }));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#cancelRejoin();
    const { member, key } = this.options;
    const coordinator = this.#coordinator;
    if (coordinator) {
      const idle = coordinator.close();
      await this.#queue?.close(idle);
      this.#host.release(key);
      for (const peer of new Set(coordinator.peers)) this.#sendToPeer(peer, { type: 'resigned', key });
    } else {
      this.#sendToCoordinator({ leave: true });
      await this.#processor.close();
    }
    await this.#host.currentSocket?.unsubscribe(this.#host.control.member(member)).catch(() => {});
    this.options.onClosed();
  }

  async #join(): Promise<void> {
    const { key, member, name, concurrency } = this.options;
    const { peer, control } = this.#host;
    const request: MemberMessage = { member, peer, join: concurrency };
    const response = await this.#host.query(
      control.holder(key),
      JSON.stringify(request),
      (message) =>
        (message.type === 'joined' && message.member === member) ||
        (message.type === 'held' && message.key === key),
    );
    if (response?.type === 'held') throw queueInUseError(name);
    if (response?.type === 'joined') {
      this.#coordinatorPeer = response.holder;
      this.#rank = response.rank;
    } else if (!this.#closing) await this.#coordinate();
  }

  async #coordinate(): Promise<void> {
    const coordinator = new QueueCoordinator();
    const { member, concurrency } = this.options;
    this.#coordinator = coordinator;
    this.#coordinatorPeer = undefined;
    coordinator.join(member, this.#host.peer, concurrency, (job) => {
      const message = { ...job.message, redelivered: job.redelivered };
      this.#processor.process(job.id, message, () => coordinator.finish(member, job.id));
    });
    try {
      this.#queue = await this.#host.open(this, coordinator, () => {
        this.#stopCoordinating();
        this.#rejoin(0);
      });
    } catch (error) {
      this.#stopCoordinating();
      throw error;
    }
  }

  #stopCoordinating(): void {
    this.#coordinator = undefined;
    this.#queue = undefined;
    this.#host.release(this.options.key);
  }

  /** Joins the new coordinator or becomes it. Members with a lower rank try first. */
  #rejoin(rank: number): void {
    this.#coordinatorPeer = undefined;
    this.#cancelRejoin();
    if (this.#closing) return;
    this.#cancelRejoin = this.#host.after(Math.max(0, rank - 1) * takeoverDelay, () => {
      this.#join().catch((error: unknown) => {
        // While the connection is down, `resume` joins again later.
        if (this.#host.currentSocket) this.#host.onError(error);
      });
    });
  }

  #forward(member: string, { id, message, redelivered }: QueueJob): void {
    const { topic, payload, properties } = message;
    const encoded = {
      ...encodeProperties(properties),
      [messageIdProperty]: id,
      [originalTopicProperty]: topic,
    };
    this.#host.currentSocket?.publish(this.#host.control.member(member), payload, {
      texts: redelivered ? { ...encoded, [redeliveredProperty]: '1' } : encoded,
    });
  }

  #sendToCoordinator(what: Pick<MemberMessage, 'leave' | 'finished'>): void {
    const message: MemberMessage = { member: this.options.member, peer: this.#host.peer, ...what };
    this.#host.currentSocket?.publish(this.#host.control.holder(this.options.key), JSON.stringify(message));
  }

  #sendToPeer(peer: string, message: PeerMessage): void {
    this.#host.currentSocket?.publish(this.#host.control.peer(peer), JSON.stringify(message));
  }
}

const isIdentifier = (text: unknown): boolean => typeof text === 'string' && /^[\w-]{1,64}$/.test(text);
