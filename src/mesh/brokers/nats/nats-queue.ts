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
  /** The first token of every subject. */
  readonly root: string;
  /** What the name of the consumer begins with. */
  readonly key: string;
  /** Whether the server keeps it when its subscriber is gone. */
  readonly isNamed: boolean;
  readonly patterns: readonly string[];
  readonly concurrency: number;
  readonly remembered: number;
  /** After how many milliseconds without a word from us the server delivers a message again. */
  readonly ackWait: number;
  readonly work: (delivery: MeshMessage) => void | Promise<void>;
  failed(error: unknown): void;
  ended(): void;
}

/** For how long the server waits with what we asked for before it says that there is nothing, in milliseconds. */
const askFor = 30_000;

/** For how long the server keeps what is for a subscriber without a named queue, in an outage, in milliseconds. */
const outage = 60_000;

/** Messages that we asked for and that have not come. */
interface Asked {
  left: number;
  readonly until: number;
}

/**
 * A consumer at the server. It is asked for as many messages as there is room for, so that what waits does so at the
 * server, and others who share the queue get it.
 */
export class NatsQueue {
  readonly #options: NatsQueueOptions;
  readonly #bench: MessageProcessor;
  readonly #inbox: string;
  readonly #name: string;
  readonly #asked = new Map<string, Asked>();
  readonly #active = new Set<Msg>();
  #subscription: { unsubscribe(): void } | undefined;
  #asks = 0;
  #isUp = false;
  #stopTick: () => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(options: NatsQueueOptions, inbox: string) {
    this.#options = options;
    this.#inbox = inbox;
    // Old servers take a consumer that is for something else now, and then deliver nothing: it gets another name.
    const { key, isNamed, patterns } = options;
    this.#name = isNamed ? `${key}-${queueKey(patterns.toSorted().join('\n')).slice(1, 9)}` : key;
    const { work, remembered } = options;
    this.#bench = new MessageProcessor({
      work: (delivery) => work(delivery),
      concurrency: options.concurrency,
      remembered,
      failed: (error) => options.failed(error),
    });
  }

  async start(): Promise<void> {
    this.#subscription = this.#options.nats.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#arrive(message);
      },
    });
    try {
      await this.up();
    } catch (error) {
      this.#subscription.unsubscribe();
      throw error;
    }
    this.#tick();
  }

  /** The server is there, or there again, and may have forgotten what it was asked for. */
  async up(): Promise<void> {
    await this.#ensure();
    this.#asked.clear();
    this.#isUp = true;
    this.#ask();
  }

  down(): void {
    this.#isUp = false;
  }

  /** Takes no more, and waits for the work on what was taken. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#bench.close();
    this.#stopTick();
    this.#subscription?.unsubscribe();
    const { nats, manager, stream, isNamed } = this.#options;
    if (!nats.isClosed() && this.#isUp) {
      if (!isNamed) await manager.consumers.delete(stream, this.#name).catch(() => false);
      // Acknowledgements are on their way; whoever comes next must not get these messages again.
      await nats.flush().catch(() => {});
    }
    this.#options.ended();
  }

  /** Makes the consumer if it is not there. */
  async #ensure(): Promise<void> {
    const { manager, nats, stream, isNamed, patterns, root, ackWait } = this.#options;
    const subjects = patterns.map((pattern) => `${root}.${writeSubjectPattern(pattern)}`);
    const [only = ''] = subjects;
    const filter =
      subjects.length === 1
        ? { filter_subject: only }
        : isAtLeast(nats.info?.version, 2, 10)
          ? { filter_subjects: subjects }
          : { filter_subject: sharedSubject(subjects) };
    const config: Partial<ConsumerConfig> = {
      ...filter,
      ...(isNamed ? { durable_name: this.#name } : { name: this.#name, inactive_threshold: outage * 1e6 }),
      // The words of the server, so that this file needs nothing of the library before it is loaded.
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
    const former = isNamed ? await this.#formerOnes() : [];
    const [first] = former.map(({ ack_floor: floor }) => floor.stream_seq + 1).toSorted((a, b) => a - b);
    await manager.consumers.add(stream, {
      ...config,
      ...(first !== undefined && { deliver_policy: 'by_start_sequence', opt_start_seq: first }),
    });
    for (const { name } of former) await manager.consumers.delete(stream, name).catch(() => false);
  }

  /** What was this queue when it was for something else; what waits there and is still wanted is taken over. */
  async #formerOnes(): Promise<ConsumerInfo[]> {
    const { manager, stream, key } = this.#options;
    const former: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(stream))
      if (consumer.name.startsWith(`${key}-`)) former.push(consumer);
    return former;
  }

  /** Asks for as much as there is room for, but not for every single place. */
  #ask(): void {
    if (!this.#isUp || this.#closing) return;
    const { nats, stream, concurrency, clock } = this.#options;
    let room = concurrency - this.#bench.size;
    for (const { left } of this.#asked.values()) room -= left;
    if (room < 1 || (this.#asked.size > 0 && room < concurrency / 2)) return;
    const reply = `${this.#inbox}.${++this.#asks}`;
    this.#asked.set(reply, { left: room, until: clock.now() + askFor + 5_000 });
    nats.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`,
      JSON.stringify({ batch: room, expires: askFor * 1e6 }),
      { reply },
    );
  }

  #arrive(message: Msg): void {
    if (message.headers?.code && message.reply === undefined) {
      this.#asked.delete(message.subject);
      // A consumer that is not there any more is made again; anything else is the end of a wait.
      if (message.headers.code === 503 || /deleted/i.test(message.headers.description)) this.#remake();
      else this.#ask();
      return;
    }
    // What was asked for first comes first.
    for (const [reply, asked] of this.#asked) {
      if (--asked.left <= 0) this.#asked.delete(reply);
      break;
    }
    const { root, patterns } = this.#options;
    const topic = readSubject(message.subject.slice(root.length + 1));
    if (this.#closing) {
      message.respond('-NAK');
    } else if (patterns.some((pattern) => topicMatches(pattern, topic))) {
      this.#work(message, topic);
    } else {
      message.respond('+ACK');
    }
    this.#ask();
  }

  #work(message: Msg, topic: string): void {
    const { id, isAgain } = readReply(message);
    this.#active.add(message);
    const delivery: MeshMessage = {
      topic,
      payload: message.string(),
      properties: decodePropertiesHeader(message.headers),
      redelivered: isAgain,
    };
    this.#bench.take(message.headers?.get('Nats-Msg-Id') || id, delivery, () => {
      this.#active.delete(message);
      if (!this.#options.nats.isClosed()) message.respond('+ACK');
      this.#ask();
    });
  }

  #remake(): void {
    if (!this.#isUp || this.#closing) return;
    this.#isUp = false;
    this.up().catch(() => {
      // The next look at the clock tries again.
    });
  }

  /** Tells the server now and then what is still being worked on. */
  #tick(): void {
    const { clock, ackWait, nats } = this.#options;
    this.#stopTick = clock.after(ackWait / 3, () => {
      if (!nats.isClosed()) for (const message of this.#active) message.respond('+WPI');
      const now = clock.now();
      for (const [reply, { until }] of this.#asked) if (until < now) this.#asked.delete(reply);
      this.#ask();
      this.#tick();
    });
  }
}

/** What the server says about a message in the subject that it is acknowledged to. */
function readReply({ reply = '' }: Msg): { id: string; isAgain: boolean } {
  const tokens = reply.split('.');
  // Newer servers put a domain and an account before the stream.
  const at = tokens.length === 9 ? 4 : 6;
  return { id: `${tokens[at + 1]}.${tokens[at + 3]}`, isAgain: Number(tokens[at]) > 1 };
}

function isAtLeast(version: string | undefined, major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = (version ?? '').split('.').map(Number);
  return has > major || (has === major && hasMinor >= minor);
}

/** The narrowest subject that takes all of these, for servers that know only one per consumer. */
function sharedSubject(subjects: readonly string[]): string {
  const [first = [], ...others] = subjects.map((subject) => subject.split('.'));
  let same = 0;
  while (
    same < first.length - 1 &&
    others.every((tokens) => tokens[same] === first[same] && same < tokens.length - 1)
  )
    same++;
  return [...first.slice(0, same), '>'].join('.');
}
