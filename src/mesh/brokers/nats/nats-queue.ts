import { isVersionAtLeast } from './server-version.ts';
import type { ConsumerConfig, ConsumerInfo, JetStreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../primitives/clock.ts';
import type { MeshMessage } from '../broker-connection.ts';
import { queueKey } from '../queue-key.ts';
import { topicMatches, readSubject, writeSubjectPattern } from '../topic-pattern.ts';
import { MessageProcessor } from '../message-processor.ts';
import { decodePropertiesHeader } from './properties-header.ts';

/** Options of {@link NatsQueue}. */
export interface NatsQueueOptions {
  readonly nats: NatsConnection;
  readonly manager: JetStreamManager;
  readonly clock: Clock;
  readonly stream: string;
  /** First token of all subjects. */
  readonly root: string;
  /** Prefix of the consumer name. */
  readonly key: string;
  /** Whether the server retains the consumer without a subscriber. */
  readonly isNamed: boolean;
  readonly patterns: readonly string[];
  readonly concurrency: number;
  readonly dedupWindow: number;
  /** Milliseconds after which an unacknowledged message is redelivered. */
  readonly ackWait: number;
  readonly handle: (message: MeshMessage) => void | Promise<void>;
  onError(error: unknown): void;
  onClosed(): void;
}

/** Milliseconds after which a pull request expires at the server. */
const pullExpiry = 30_000;

/** Milliseconds for which the server retains the consumer of an unnamed queue during an interruption. */
const inactiveThreshold = 60_000;

/** A pull request that is not fulfilled yet. */
interface PullRequest {
  remaining: number;
  readonly until: number;
}

/**
 * Pull consumer of a JetStream stream. It requests as many messages as it has room for, so that the others stay at the
 * server and are available to other subscribers of a shared queue.
 */
export class NatsQueue {
  readonly #options: NatsQueueOptions;
  readonly #processor: MessageProcessor;
  readonly #inbox: string;
  readonly #name: string;
  readonly #pulls = new Map<string, PullRequest>();
  readonly #active = new Set<Msg>();
  #subscription: { unsubscribe(): void } | undefined;
  #pullCount = 0;
  #isUp = false;
  #stopTick: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(options: NatsQueueOptions, inbox: string) {
    this.#options = options;
    this.#inbox = inbox;
    // Old servers deliver nothing to a consumer whose filter was changed, so other patterns use another consumer name.
    const { key, isNamed, patterns } = options;
    this.#name = isNamed ? `${key}-${queueKey(patterns.toSorted().join('\n')).slice(1, 9)}` : key;
    const { handle, dedupWindow } = options;
    this.#processor = new MessageProcessor({
      handle,
      concurrency: options.concurrency,
      dedupWindow,
      onError: (error) => options.onError(error),
    });
  }

  async start(): Promise<void> {
    this.#subscription = this.#options.nats.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#receive(message);
      },
    });
    try {
      await this.up();
    } catch (error) {
      this.#subscription.unsubscribe();
      throw error;
    }
    this.#scheduleTick();
  }

  /** Restores the consumer and its pull requests, which a restarted server may have lost. */
  async up(): Promise<void> {
    await this.#ensureConsumer();
    this.#pulls.clear();
    this.#isUp = true;
    this.#pull();
  }

  down(): void {
    this.#isUp = false;
  }

  /** Accepts no more messages, and waits for those in progress. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#processor.close();
    this.#stopTick();
    this.#subscription?.unsubscribe();
    const { nats, manager, stream, isNamed } = this.#options;
    if (!nats.isClosed() && this.#isUp) {
      if (!isNamed) await manager.consumers.delete(stream, this.#name).catch(() => false);
      // Acknowledgements must reach the server, or the next subscriber receives these messages again.
      await nats.flush().catch(() => {});
    }
    this.#options.onClosed();
  }

  async #ensureConsumer(): Promise<void> {
    const { manager, nats, stream, isNamed, patterns, root, ackWait } = this.#options;
    const subjects = patterns.map((pattern) => `${root}.${writeSubjectPattern(pattern)}`);
    const [only = ''] = subjects;
    const filter =
      subjects.length === 1
        ? { filter_subject: only }
        : isVersionAtLeast(nats.info?.version, 2, 10)
          ? { filter_subjects: subjects }
          : { filter_subject: commonSubject(subjects) };
    const config: Partial<ConsumerConfig> = {
      ...filter,
      ...(isNamed
        ? { durable_name: this.#name }
        : { name: this.#name, inactive_threshold: inactiveThreshold * 1e6 }),
      // String literals instead of enums, because the library is loaded lazily.
      ack_policy: 'explicit',
      deliver_policy: 'new',
      ack_wait: ackWait * 1e6,
      max_ack_pending: -1,
    };
    const known = await manager.consumers.info(stream, this.#name).catch(() => undefined);
    if (known?.config.ack_wait === config.ack_wait) return;
    if (known) {
      await manager.consumers.update(stream, this.#name, { ...filter, ack_wait: ackWait * 1e6 });
      return;
    }
    const former = isNamed ? await this.#formerConsumers() : [];
    const [first] = former.map(({ ack_floor: floor }) => floor.stream_seq + 1).toSorted((a, b) => a - b);
    const start =
      first === undefined ? {} : { deliver_policy: 'by_start_sequence' as const, opt_start_seq: first };
    try {
      await manager.consumers.add(stream, { ...config, ...start });
    } catch (error) {
      // Another subscriber of a shared queue may have added it in the meantime, with another start.
      await manager.consumers.info(stream, this.#name).catch(() => {
        throw error;
      });
    }
    for (const { name } of former) await manager.consumers.delete(stream, name).catch(() => false);
  }

  /** Returns the consumers of this queue with other patterns. Their unprocessed messages are taken over. */
  async #formerConsumers(): Promise<ConsumerInfo[]> {
    const { manager, stream, key } = this.#options;
    const former: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(stream))
      if (consumer.name.startsWith(`${key}-`) && consumer.name !== this.#name) former.push(consumer);
    return former;
  }

  /** Requests as many messages as there is room for, in batches. */
  #pull(): void {
    if (!this.#isUp || this.#closing) return;
    const { nats, stream, concurrency, clock } = this.#options;
    let room = concurrency - this.#processor.size;
    for (const { remaining } of this.#pulls.values()) room -= remaining;
    if (room < 1 || (this.#pulls.size > 0 && room < concurrency / 2)) return;
    const reply = `${this.#inbox}.${++this.#pullCount}`;
    this.#pulls.set(reply, { remaining: room, until: clock.monotonic() + pullExpiry + 5_000 });
    nats.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`,
      JSON.stringify({ batch: room, expires: pullExpiry * 1e6 }),
      { reply },
    );
  }

  #receive(message: Msg): void {
    if (message.headers?.code && message.reply === undefined) {
      this.#pulls.delete(message.subject);
      // Recreates a deleted consumer; other status messages end a pull request.
      if (message.headers.code === 503 || /deleted/i.test(message.headers.description)) this.#recreate();
      else this.#pull();
      return;
    }
    // The oldest pull request is fulfilled first.
    for (const [reply, pull] of this.#pulls) {
      if (--pull.remaining <= 0) this.#pulls.delete(reply);
      break;
    }
    const { root, patterns } = this.#options;
    const topic = readSubject(message.subject.slice(root.length + 1));
    if (this.#closing) {
      message.respond('-NAK');
    } else if (patterns.some((pattern) => topicMatches(pattern, topic))) {
      this.#process(message, topic);
    } else {
      message.respond('+ACK');
    }
    this.#pull();
  }

  #process(natsMessage: Msg, topic: string): void {
    const { id: sequence, redelivered } = parseReplySubject(natsMessage);
    const id = natsMessage.headers?.get('Nats-Msg-Id') || sequence;
    this.#active.add(natsMessage);
    const message: MeshMessage = {
      topic,
      payload: natsMessage.string(),
      properties: decodePropertiesHeader(natsMessage.headers),
      redelivered,
      id,
    };
    this.#processor.process(id, message, () => {
      this.#active.delete(natsMessage);
      if (!this.#options.nats.isClosed()) natsMessage.respond('+ACK');
      this.#pull();
    });
  }

  #recreate(): void {
    if (!this.#isUp || this.#closing) return;
    this.#isUp = false;
    this.up().catch(() => {
      // The next tick tries again.
    });
  }

  /** Extends the ack deadline of messages in progress, and removes expired pull requests. */
  #scheduleTick(): void {
    const { clock, ackWait, nats } = this.#options;
    this.#stopTick = clock.after(ackWait / 3, () => {
      if (!nats.isClosed()) for (const message of this.#active) message.respond('+WPI');
      const now = clock.monotonic();
      for (const [reply, { until }] of this.#pulls) if (until < now) this.#pulls.delete(reply);
      this.#pull();
      this.#scheduleTick();
    });
  }
}

/** Parses the acknowledgement subject, which contains the delivery count and the sequence numbers. */
function parseReplySubject({ reply = '' }: Msg): { id: string; redelivered: boolean } {
  const tokens = reply.split('.');
  // Newer servers insert a domain and an account before the stream.
  const at = tokens.length === 9 ? 4 : 6;
  return { id: `${tokens[at + 1]}.${tokens[at + 3]}`, redelivered: Number(tokens[at]) > 1 };
}

/** Returns the narrowest subject that includes all subjects, for servers with one filter per consumer. */
function commonSubject(subjects: readonly string[]): string {
  const [first = [], ...others] = subjects.map((subject) => subject.split('.'));
  let same = 0;
  while (
    same < first.length - 1 &&
    others.every((tokens) => tokens[same] === first[same] && same < tokens.length - 1)
  )
    same++;
  return [...first.slice(0, same), '>'].join('.');
}
