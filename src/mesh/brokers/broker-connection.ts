/** A user property. Brokers that support only text carry numbers, booleans and maps as JSON. */
export type MessageProperty =
  | string
  | number
  | boolean
  | null
  | readonly MessageProperty[]
  | { readonly [name: string]: MessageProperty };

/** User properties of a message. */
export interface MessageProperties {
  readonly [name: string]: MessageProperty | undefined;
}

/** A received message. */
export interface MeshMessage {
  readonly topic: string;
  /** UTF-8 text; on the mesh JSON. */
  readonly payload: string;
  readonly properties: MessageProperties;
  /** True if the broker may have delivered the message before. */
  readonly redelivered: boolean;
  /** Identifies the published message: all its deliveries have the same id. Undefined if its publisher gave it none. */
  readonly id?: string;
}

/** Options of {@link BrokerConnection.subscribe}. */
export interface SubscribeOptions {
  /**
   * Name of a durable queue, which retains messages while no subscriber is connected. Without a name, messages published
   * meanwhile are lost.
   */
  readonly queue?: string;
  /**
   * Whether several subscribers share the messages of the queue. Over MQTT the broker decides what happens to the messages
   * of a subscriber that has crashed, unless it has a `clientId` and returns. @defaultValue false: only one may subscribe
   */
  readonly shared?: boolean;
  /** Maximum number of messages in progress; the broker retains the rest. @defaultValue 64 */
  readonly concurrency?: number;
}

/** An active subscription. */
export interface Subscription extends AsyncDisposable {
  /** Accepts no more messages, and waits for those in progress. */
  close(): Promise<void>;
}

/** State of a connection: `up`, reconnecting (`down`), or closed. */
export type BrokerConnectionState = 'up' | 'down' | 'closed';

/**
 * Connection to a message broker with at-least-once delivery. Topics have levels separated by `/`; in a pattern, `*`
 * matches one level and a final `>` one or more. After an interruption it reconnects and restores its subscriptions.
 */
export interface BrokerConnection extends AsyncDisposable {
  /** Kind of the broker, for telemetry, such as `mqtt`. */
  readonly system?: string | undefined;
  /**
   * Publishes a message. Resolves once the broker has stored it, which applies backpressure to the publisher; while the
   * connection is down, it waits.
   */
  publish(topic: string, payload: string, properties?: MessageProperties): Promise<void>;
  /**
   * Calls `handle` with messages whose topic matches, in order. A message is acknowledged when the promise of `handle`
   * settles; a message that was not acknowledged is redelivered. A redelivered message may arrive after newer ones:
   * brokers do not preserve the order of a topic across redelivery.
   */
  subscribe(
    patterns: string | readonly string[],
    handle: (message: MeshMessage) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Promise<Subscription>;
  readonly state: BrokerConnectionState;
  /** Calls `listener` when the state changes. @returns a function that ends it. */
  onState(listener: (state: BrokerConnectionState) => void): () => void;
  /** Closes all subscriptions, waits for pending publishes, and closes the connection. */
  close(): Promise<void>;
}
