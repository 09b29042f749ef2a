import { randomBytes } from 'node:crypto';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { MsgHdrs, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
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
import { resolveSubscription } from '../subscription-plan.ts';
import { BrokerConnectionStates } from '../connection-states.ts';
import { explainNatsError } from './nats-errors.ts';
import { propertiesHeader, encodePropertiesHeader } from './properties-header.ts';
import { NatsPublisher } from './nats-publisher.ts';
import { NatsQueue } from './nats-queue.ts';
import { reconnectDelay } from '../reconnect-backoff.ts';
import { queueKey, queueInUseError } from '../queue-key.ts';
import { checkTopic, writeSubject } from '../topic-pattern.ts';

/** Options of {@link connectNats}. */
export interface NatsOptions {
  username?: string;
  password?: string;
  token?: string;
  /** How to trust the server, and how to be trusted by it. */
  tls?: { ca?: string; cert?: string; key?: string; caFile?: string; certFile?: string; keyFile?: string };
  /** The name of the stream and the first token of every subject: links with another one do not meet. @defaultValue 'dragoman' */
  namespace?: string;
  /** After how many seconds of silence the server is asked whether it is there. @defaultValue 30 */
  keepalive?: number;
  /** How long the first connection may take, in milliseconds; until then it is tried again. @defaultValue 10000 */
  connectTimeout?: number;
  /** The longest pause before the first further attempt, in milliseconds. @defaultValue 100 */
  minDelay?: number;
  /** The longest pause between attempts, in milliseconds. @defaultValue 5000 */
  maxDelay?: number;
  /** How many bytes the stream may have when this link makes it; when it is full, `publish` waits. @defaultValue no limit */
  maxBytes?: number;
  /** After how many milliseconds a message whose subscriber is gone is delivered again. @defaultValue 30000 */
  ackWait?: number;
  /** How many messages are on the way to the server at once. @defaultValue 256 */
  inFlight?: number;
  /** How many ids of finished messages each subscription remembers. @defaultValue 10000 */
  dedupWindow?: number;
  /** How long `close` waits for what is being published, in milliseconds. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with what the work on a message threw. The message counts as done. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: () => number;
}

/** What is needed of the libraries. */
interface Nats {
  readonly connect: (options: NodeConnectionOptions) => Promise<NatsConnection>;
  readonly headers: () => MsgHdrs;
  readonly createInbox: () => string;
  readonly jetstreamManager: (connection: NatsConnection) => Promise<JetStreamManager>;
}

/** A link to a NATS server with JetStream, over `nats:` or `tls:`. */
export async function connectNats(url: string, options: NatsOptions = {}): Promise<BrokerConnection> {
  if (!URL.canParse(url) || !/^(nats|tls):$/.test(new URL(url).protocol))
    throw invalidField('url', 'must begin with nats:// or tls://');
  if (!/^[\w-]+$/.test(options.namespace ?? 'dragoman'))
    throw invalidField('namespace', 'must be of letters, digits, _ and -');
  const nats = await load();
  const link = new NatsLink(nats, url, options);
  await link.start();
  return link;
}

async function load(): Promise<Nats> {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    const { connect, headers, createInbox } = transport;
    return { connect, headers, createInbox, jetstreamManager: (nc) => jetstream.jetstreamManager(nc) };
  } catch (cause) {
    const hint = 'npm install @nats-io/transport-node @nats-io/jetstream';
    throw new A2AError('UNAVAILABLE', `Links over NATS need libraries: ${hint}`, { cause, hint });
  }
}

class NatsLink implements BrokerConnection {
  readonly #nats: Nats;
  readonly #url: string;
  readonly #options: NatsOptions;
  readonly #clock: Clock;
  readonly #root: string;
  readonly #id = randomBytes(11).toString('hex');
  readonly #states = new BrokerConnectionStates('down');
  readonly #queues = new Map<string, { queue: NatsQueue; isShared: boolean }>();
  #connection!: NatsConnection;
  #manager!: JetStreamManager;
  #publisher!: NatsPublisher;
  #failures = 0;
  #numbers = 0;
  #closing: Promise<void> | undefined;

  constructor(nats: Nats, url: string, options: NatsOptions) {
    this.#nats = nats;
    this.#url = url;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#root = options.namespace ?? 'dragoman';
  }

  async start(): Promise<void> {
    const deadline = this.#clock.now() + (this.#options.connectTimeout ?? 10_000);
    for (;;) {
      try {
        this.#connection = await this.#nats.connect(this.#connectOptions());
        break;
      } catch (error) {
        const explained = explainNatsError(error, this.#url);
        if (explained.reason !== 'UNAVAILABLE' || this.#clock.now() >= deadline) throw explained;
        await new Promise<void>((resolve) => void this.#clock.after(this.#pause(), resolve));
      }
    }
    try {
      this.#manager = await this.#nats.jetstreamManager(this.#connection);
      await this.#ensureStream();
    } catch (error) {
      await this.#connection.close();
      throw explainNatsError(error, this.#url);
    }
    this.#publisher = new NatsPublisher(this.#connection, this.#nats.createInbox(), this.#clock);
    this.#up();
    void this.#watch();
  }

  get state(): BrokerConnectionState {
    return this.#states.state;
  }

  onState(changed: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(changed);
  }

  async publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    this.#states.check();
    checkTopic(topic);
    const headers = this.#nats.headers();
    // The server takes a message that is sent again, because nobody knows whether it came, only once.
    headers.set('Nats-Msg-Id', `${this.#id}:${++this.#numbers}`);
    headers.set(propertiesHeader, encodePropertiesHeader(properties));
    await this.#publisher.publish(`${this.#root}.${writeSubject(topic)}`, payload, headers);
  }

  async subscribe(
    patterns: string | readonly string[],
    work: (delivery: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue: name, shared, concurrency } = resolveSubscription(patterns, options);
    const key = name === undefined ? `u${randomBytes(11).toString('hex')}` : queueKey(name);
    const holder = `${this.#root}-holder.${key}`;
    let answering: { unsubscribe(): void } | undefined;
    if (name !== undefined) {
      const answer = await this.#connection.request(holder, '', { timeout: 2_000 }).catch(() => undefined);
      if (answer && !(shared && answer.string() === 'shared')) throw queueInUseError(name);
      answering = this.#connection.subscribe(holder, {
        callback: (error, message) => {
          if (!error) message.respond(shared ? 'shared' : 'exclusive');
        },
      });
    }
    const place = randomBytes(8).toString('hex');
    const queue = new NatsQueue(
      {
        nats: this.#connection,
        manager: this.#manager,
        clock: this.#clock,
        stream: this.#root,
        root: this.#root,
        key,
        isNamed: name !== undefined,
        patterns: list,
        concurrency,
        remembered: this.#options.dedupWindow ?? 10_000,
        ackWait: this.#options.ackWait ?? 30_000,
        work,
        failed: (error) => this.#options.onError?.(error),
        ended: () => {
          this.#queues.delete(place);
          answering?.unsubscribe();
        },
      },
      this.#nats.createInbox(),
    );
    try {
      await queue.start();
    } catch (error) {
      answering?.unsubscribe();
      throw explainNatsError(error, this.#url);
    }
    this.#queues.set(place, { queue, isShared: shared });
    const close = (): Promise<void> => queue.close();
    return { close, [Symbol.asyncDispose]: close };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#states.set('closed');
    await Promise.all([...this.#queues.values()].map(({ queue }) => queue.close()));
    await this.#publisher.close(this.#options.closeTimeout ?? 5_000);
    await this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connectOptions(): NodeConnectionOptions {
    const { username, password, token, tls, keepalive = 30, connectTimeout = 10_000 } = this.#options;
    const { protocol, host, username: user, password: secret } = new URL(this.#url);
    const name = username ?? decodeURIComponent(user);
    const pass = password ?? decodeURIComponent(secret);
    return {
      servers: [host],
      ...(name && { user: name, pass }),
      ...(token !== undefined && { token }),
      ...((tls ?? protocol === 'tls:') && { tls: tls ?? {} }),
      timeout: connectTimeout,
      pingInterval: keepalive * 1_000,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectDelayHandler: () => this.#pause(),
    };
  }

  #pause(): number {
    const { minDelay = 100, maxDelay = 5_000, random = Math.random } = this.#options;
    return reconnectDelay(++this.#failures, { minDelay, maxDelay }, random);
  }

  /** Makes the stream that keeps a message until every queue it is for is done with it, and no longer. */
  async #ensureStream(): Promise<void> {
    const known = await this.#manager.streams.info(this.#root).catch(() => undefined);
    if (known) return;
    await this.#manager.streams.add({
      name: this.#root,
      subjects: [`${this.#root}.>`],
      retention: 'interest',
      storage: 'file',
      discard: 'new',
      ...(this.#options.maxBytes !== undefined && { max_bytes: this.#options.maxBytes }),
    });
  }

  #up(): void {
    this.#failures = 0;
    this.#publisher.open(this.#options.inFlight ?? 256);
    this.#states.set('up');
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') {
        this.#publisher.pause();
        for (const { queue } of this.#queues.values()) queue.down();
        this.#states.set('down');
      } else if (type === 'reconnect') {
        await this.#comeBack();
      }
    }
  }

  /** A server that has just started may not have its streams yet, so it is asked until it has. */
  async #comeBack(): Promise<void> {
    while (!this.#closing && !this.#connection.isClosed()) {
      try {
        await this.#ensureStream();
        await Promise.all([...this.#queues.values()].map(({ queue }) => queue.up()));
        this.#up();
        return;
      } catch {
        await new Promise<void>((resolve) => void this.#clock.after(this.#pause(), resolve));
      }
    }
  }
}
