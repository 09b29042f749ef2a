/** A value beside a payload. Brokers that know only text carry numbers, booleans and maps as JSON. */
export type MessageProperty =
  | string
  | number
  | boolean
  | null
  | readonly MessageProperty[]
  | { readonly [name: string]: MessageProperty };

/** What travels beside a payload. */
export interface MessageProperties {
  readonly [name: string]: MessageProperty | undefined;
}

/** A message that arrived. */
export interface MeshMessage {
  readonly topic: string;
  /** UTF-8 text; on the mesh, JSON. */
  readonly payload: string;
  readonly properties: MessageProperties;
  /** True when the broker says that it may have been delivered before. */
  readonly redelivered: boolean;
}

/** How to subscribe. */
export interface SubscribeOptions {
  /**
   * The name of a queue that outlives the connection: what is published while nobody is there waits in it. Without
   * a name, what is published meanwhile is lost.
   */
  readonly queue?: string;
  /** Whether several subscribers of one queue share its messages. @defaultValue false: only one may subscribe */
  readonly shared?: boolean;
  /** How many messages may be worked on at once; the broker keeps the rest. @defaultValue 64 */
  readonly concurrency?: number;
}

/** Something that messages arrive at. */
export interface Subscription extends AsyncDisposable {
  /** Takes no more messages, and waits for those that are being worked on. */
  close(): Promise<void>;
}

/** How a link is: `up`, trying again (`down`), or finished. */
export type BrokerConnectionState = 'up' | 'down' | 'closed';

/**
 * A way to a broker. Topics have levels parted by `/`; in a pattern `*` is one whole level and `>`, at the end, one or
 * more. A link that breaks comes back by itself, subscriptions included.
 */
export interface BrokerConnection extends AsyncDisposable {
  /**
   * Publishes a message. Resolves once the broker has it for good, so whoever waits is slowed down to what the broker
   * can take; while the link is down it waits until it is up again.
   */
  publish(topic: string, payload: string, properties?: MessageProperties): Promise<void>;
  /**
   * Hands over messages whose topic matches, each once its predecessors were handed over. A message is acknowledged
   * when the promise of `work` settles, not before; one that was not acknowledged comes again. A redelivered message
   * may arrive after newer ones: brokers do not keep the order of a topic across redelivery.
   */
  subscribe(
    patterns: string | readonly string[],
    work: (delivery: MeshMessage) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Promise<Subscription>;
  readonly state: BrokerConnectionState;
  /** Calls back when the state changes. @returns what stops it. */
  onState(changed: (state: BrokerConnectionState) => void): () => void;
  /** Closes subscriptions, waits for what is being published, and lets go of the connection. */
  close(): Promise<void>;
}
