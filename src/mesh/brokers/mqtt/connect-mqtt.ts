import { randomBytes } from 'node:crypto';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { systemClock } from '../../../primitives/clock.ts';
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
import { MqttConnection, type MqttConnectionOptions } from './mqtt-connection.ts';
import type { MqttOptions } from './mqtt-options.ts';
import { toClientOptions } from './to-client-options.ts';
import { MqttPublisher } from './mqtt-publisher.ts';
import { MqttSubscription } from './mqtt-subscription.ts';
import { encodeProperties } from '../property-encoding.ts';
import { queueKey, queueInUseError } from '../queue-key.ts';
import { checkTopic } from '../topic-pattern.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Seconds for which the broker retains a session that has no stable client id, during an interruption. */
const interruptionExpiry = 60;

/** Connects to an MQTT 5 broker over `mqtt:`, `mqtts:`, `ws:` or `wss:`. */
export async function connectMqtt(url: string, options: MqttOptions = {}): Promise<BrokerConnection> {
  if (!/^(mqtts?|wss?):$/.test(parseUrl(url)?.protocol ?? ''))
    throw invalidField('url', 'must start with mqtt://, mqtts://, ws:// or wss://');
  const mqtt = await import('mqtt').catch((cause: unknown) => {
    throw new A2AError('UNAVAILABLE', 'MQTT connections need a library: npm install mqtt', {
      cause,
      hint: 'npm install mqtt',
    });
  });
  const connection = new MqttBrokerConnection(mqtt.connect ?? mqtt.default.connect, url, options);
  await connection.start();
  return connection;
}

class MqttBrokerConnection implements BrokerConnection {
  readonly system = 'mqtt';
  readonly #options: MqttOptions;
  readonly #connectionOptions: MqttConnectionOptions;
  readonly #states = new BrokerConnectionStates('down');
  readonly #publisher: MqttPublisher;
  /** Connection of the publisher. Each subscription has its own. */
  readonly #connection: MqttConnection;
  readonly #subscriptions = new Set<MqttSubscription>();
  #closing: Promise<void> | undefined;

  constructor(connect: MqttConnectionOptions['connect'], url: string, options: MqttOptions) {
    const { clock = systemClock, random = Math.random, minDelay = 100, maxDelay = 5_000 } = options;
    this.#options = options;
    this.#connectionOptions = {
      connect,
      url,
      options: toClientOptions(options),
      backoff: { minDelay, maxDelay, jitter: 'equal' },
      clock,
      random,
    };
    const id = newId();
    // A subscriber may wait for its last reconnection delay, and then for the broker.
    const resubscribeTime = maxDelay + this.#connectTimeout;
    this.#publisher = new MqttPublisher({ id, clock, resubscribeTime });
    this.#connection = new MqttConnection(
      this.#connectionOptions,
      { clientId: `p${id}`, expiry: 0, receiveMaximum: 1 },
      {
        ready: (socket) => {
          this.#publisher.open(socket, options.inFlight ?? 64);
          this.#states.set('up');
        },
        down: () => {
          this.#publisher.pause();
          this.#states.set('down');
        },
        lost: (error) => {
          options.onError?.(error);
          void this.close();
        },
      },
    );
  }

  async start(): Promise<void> {
    try {
      await this.#connection.start(this.#connectTimeout);
    } catch (error) {
      this.#states.set('closed');
      throw error;
    }
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
    await this.#publisher.publish(topic, payload, encodeProperties(properties));
  }

  async subscribe(
    patterns: string | readonly string[],
    handle: (message: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue, shared, concurrency } = resolveSubscription(patterns, options);
    const session = this.#session(queue, shared);
    const subscription = new MqttSubscription(this.#connectionOptions, {
      ...session,
      queue,
      patterns: list,
      concurrency,
      dedupWindow: this.#options.dedupWindow ?? 10_000,
      handle,
      onError: (error) => this.#options.onError?.(error),
      onClosed: () => this.#subscriptions.delete(subscription),
    });
    for (const { options: other } of this.#subscriptions)
      if (
        other.clientId === session.clientId ||
        (queue !== undefined && other.queue === queue && other.group !== session.group)
      )
        throw queueInUseError(queue ?? '');
    this.#subscriptions.add(subscription);
    try {
      await subscription.start(this.#connectTimeout);
    } catch (error) {
      this.#subscriptions.delete(subscription);
      throw error;
    }
    const close = (): Promise<void> => subscription.close();
    return { close, [Symbol.asyncDispose]: close };
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#states.set('closed');
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()));
    await this.#publisher.close(this.#options.closeTimeout ?? 5_000);
    await this.#connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #connectTimeout(): number {
    return this.#options.connectTimeout ?? 10_000;
  }

  /** Returns the session of a subscription: all subscribers of an exclusive queue use the same one, one after the other. */
  #session(
    queue: string | undefined,
    isShared: boolean,
  ): { clientId: string; group: string | undefined; expiry: number; isDurable: boolean } {
    const { clientId: name, queueExpiry = 86_400 } = this.#options;
    const group = isShared && queue !== undefined ? queueKey(queue) : undefined;
    const durable = { isDurable: true, expiry: queueExpiry };
    if (queue !== undefined && group === undefined) return { ...durable, group, clientId: queueKey(queue) };
    if (queue !== undefined && name !== undefined)
      return { ...durable, group, clientId: queueKey(`${queue}\n${name}`) };
    return { isDurable: false, expiry: interruptionExpiry, group, clientId: `u${newId()}` };
  }
}

const newId = (): string => randomBytes(11).toString('hex');
