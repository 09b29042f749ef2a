import { randomBytes } from 'node:crypto';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { MsgHdrs, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { type Clock, sleep, systemClock } from '../../../primitives/clock.ts';
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
import { isVersionAtLeast } from './server-version.ts';
import { NatsPublisher } from './nats-publisher.ts';
import { NatsQueue } from './nats-queue.ts';
import { backoffDelay } from '../../../primitives/backoff.ts';
import { queueKey, queueInUseError } from '../queue-key.ts';
import { checkTopic, writeSubject } from '../topic-pattern.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Options of {@link connectNats}. */
export interface NatsOptions {
  username?: string;
  password?: string;
  token?: string;
  /** Trusted certificates and client certificate. */
  tls?: { ca?: string; cert?: string; key?: string; caFile?: string; certFile?: string; keyFile?: string };
  /** Name of the stream and first token of all subjects; isolates connections. @defaultValue 'dragoman' */
  namespace?: string;
  /** Seconds of inactivity after which the server is pinged. @defaultValue 30 */
  keepalive?: number;
  /** Milliseconds until the first connection must succeed; attempts are repeated until then. @defaultValue 10000 */
  connectTimeout?: number;
  /** Upper bound of the first reconnection delay, in milliseconds. @defaultValue 100 */
  minDelay?: number;
  /** Maximum reconnection delay, in milliseconds. @defaultValue 5000 */
  maxDelay?: number;
  /** Maximum size of the stream in bytes when it is created; `publish` waits while it is full. @defaultValue unlimited */
  maxBytes?: number;
  /** Milliseconds after which an unacknowledged message is redelivered. @defaultValue 30000 */
  ackWait?: number;
  /** Maximum number of messages sent and not acknowledged by the server. @defaultValue 256 */
  inFlight?: number;
  /** Number of ids of finished messages per subscription for deduplication. @defaultValue 10000 */
  dedupWindow?: number;
  /** Milliseconds that `close` waits for pending publishes. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with errors of message handlers. The message counts as processed. */
  onError?: (error: unknown) => void;
  /** Called with problems of the server, such as a version that may lose messages. @defaultValue `process.emitWarning` */
  onWarning?: (message: string) => void;
  clock?: Clock;
  random?: () => number;
}

/** Functions of the NATS libraries. */
interface Nats {
  readonly connect: (options: NodeConnectionOptions) => Promise<NatsConnection>;
  readonly headers: () => MsgHdrs;
  readonly createInbox: () => string;
  readonly jetstreamManager: (connection: NatsConnection) => Promise<JetStreamManager>;
}

/** Connects to a NATS server with JetStream, over `nats:` or `tls:`. */
export async function connectNats(url: string, options: NatsOptions = {}): Promise<BrokerConnection> {
  if (!/^(nats|tls):$/.test(parseUrl(url)?.protocol ?? ''))
    throw invalidField('url', 'must start with nats:// or tls://');
  if (!/^[\w-]+$/.test(options.namespace ?? 'dragoman'))
    throw invalidField('namespace', 'must consist of letters, digits, _ and -');
  const nats = await loadLibraries();
  const connection = new NatsBrokerConnection(nats, url, options);
  await connection.start();
  return connection;
}

async function loadLibraries(): Promise<Nats> {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    const { connect, headers, createInbox } = transport;
    return { connect, headers, createInbox, jetstreamManager: (nc) => jetstream.jetstreamManager(nc) };
  } catch (cause) {
    const hint = 'npm install @nats-io/transport-node @nats-io/jetstream';
    throw new A2AError('UNAVAILABLE', `NATS connections need libraries: ${hint}`, { cause, hint });
  }
}

function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'DRAGOMAN_NATS_VERSION' });
}

class NatsBrokerConnection implements BrokerConnection {
  readonly system = 'nats';
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
  #messageCount = 0;
  #closing: Promise<void> | undefined;

  constructor(nats: Nats, url: string, options: NatsOptions) {
    this.#nats = nats;
    this.#url = url;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#root = options.namespace ?? 'dragoman';
  }

  async start(): Promise<void> {
    const deadline = this.#clock.monotonic() + (this.#options.connectTimeout ?? 10_000);
    for (;;) {
      try {
        this.#connection = await this.#nats.connect(this.#connectOptions());
        break;
      } catch (error) {
        const explained = explainNatsError(error, this.#url);
        if (explained.reason !== 'UNAVAILABLE' || this.#clock.monotonic() >= deadline) throw explained;
        await sleep(this.#clock, this.#nextDelay());
      }
    }
    try {
      this.#manager = await this.#nats.jetstreamManager(this.#connection);
      await this.#ensureStream();
    } catch (error) {
      await this.#connection.close();
      throw explainNatsError(error, this.#url);
    }
    const { version } = this.#connection.info ?? {};
    if (!isVersionAtLeast(version, 2, 10))
      (this.#options.onWarning ?? warnProcess)(
        `NATS server ${version} may lose messages when it is killed: use version 2.10 or later`,
      );
    this.#publisher = new NatsPublisher(this.#connection, this.#nats.createInbox(), this.#clock);
    this.#onUp();
    void this.#monitorStatus();
  }

  get state(): BrokerConnectionState {
    return this.#states.state;
  }

  onState(listener: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(listener);
  }

  async publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    this.#states.check();
    checkTopic(topic);
    const headers = this.#nats.headers();
    // The server deduplicates messages that are sent again after an interruption by this id.
    headers.set('Nats-Msg-Id', `${this.#id}:${++this.#messageCount}`);
    headers.set(propertiesHeader, encodePropertiesHeader(properties));
    await this.#publisher.publish(`${this.#root}.${writeSubject(topic)}`, payload, headers);
  }

  async subscribe(
    patterns: string | readonly string[],
    handle: (message: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue: name, shared, concurrency } = resolveSubscription(patterns, options);
    const key = name === undefined ? `u${randomBytes(11).toString('hex')}` : queueKey(name);
    const holderSubject = `${this.#root}-holder.${key}`;
    let responder: { unsubscribe(): void } | undefined;
    if (name !== undefined) {
      const response = await this.#connection
        .request(holderSubject, '', { timeout: 2_000 })
        .catch(() => undefined);
      if (response && !(shared && response.string() === 'shared')) throw queueInUseError(name);
      responder = this.#connection.subscribe(holderSubject, {
        callback: (error, message) => {
          if (!error) message.respond(shared ? 'shared' : 'exclusive');
        },
      });
    }
    const subscriptionId = randomBytes(8).toString('hex');
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
        dedupWindow: this.#options.dedupWindow ?? 10_000,
        ackWait: this.#options.ackWait ?? 30_000,
        handle,
        onError: (error) => this.#options.onError?.(error),
        onClosed: () => {
          this.#queues.delete(subscriptionId);
          responder?.unsubscribe();
        },
      },
      this.#nats.createInbox(),
    );
    try {
      await queue.start();
    } catch (error) {
      responder?.unsubscribe();
      throw explainNatsError(error, this.#url);
    }
    this.#queues.set(subscriptionId, { queue, isShared: shared });
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
      reconnectDelayHandler: () => this.#nextDelay(),
    };
  }

  #nextDelay(): number {
    const { minDelay = 100, maxDelay = 5_000, random = Math.random } = this.#options;
    return backoffDelay(this.#failures++, { minDelay, maxDelay, jitter: 'equal' }, random);
  }

  /** Creates the stream, which retains a message until all queues have acknowledged it. */
  async #ensureStream(): Promise<void> {
    const find = () => this.#manager.streams.info(this.#root).catch(() => undefined);
    if (await find()) return;
    try {
      await this.#manager.streams.add({
        name: this.#root,
        subjects: [`${this.#root}.>`],
        retention: 'interest',
        storage: 'file',
        discard: 'new',
        ...(this.#options.maxBytes !== undefined && { max_bytes: this.#options.maxBytes }),
      });
    } catch (error) {
      // Another connection may have created it meanwhile.
      if (!(await find())) throw error;
    }
  }

  #onUp(): void {
    this.#failures = 0;
    this.#publisher.open(this.#options.inFlight ?? 256);
    this.#states.set('up');
  }

  async #monitorStatus(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') {
        this.#publisher.pause();
        for (const { queue } of this.#queues.values()) queue.down();
        this.#states.set('down');
      } else if (type === 'reconnect') {
        await this.#resume();
      }
    }
  }

  /** Retries until the streams are available, because a restarted server may not have loaded them yet. */
  async #resume(): Promise<void> {
    while (!this.#closing && !this.#connection.isClosed()) {
      try {
        await this.#ensureStream();
        await Promise.all([...this.#queues.values()].map(({ queue }) => queue.up()));
        this.#onUp();
        return;
      } catch {
        await sleep(this.#clock, this.#nextDelay());
      }
    }
  }
}
