import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { Fifo } from '../fifo.ts';
import type { MeshMessage, MessageProperties, MessageProperty } from '../broker-connection.ts';
import { queueInUseError } from '../queue-key.ts';
import { TopicIndex } from '../topic-pattern.ts';

/** A queued message. */
interface Message {
  readonly topic: string;
  readonly payload: string;
  readonly properties: MessageProperties;
  readonly id: string;
  redelivered: boolean;
}

/** A message that waits for room in a queue. */
interface BlockedMessage {
  readonly message: Message;
  readonly publisher: object;
  settle(error?: A2AError): void;
}

/** Consumer of a queue. */
export interface QueueConsumer {
  readonly handle: (message: MeshMessage) => void | Promise<void>;
  readonly concurrency: number;
  /** Called with errors of `handle`; the message counts as processed. */
  onError(error: unknown): void;
}

/** A consumer and its unacknowledged messages. */
interface ConsumerState {
  readonly consumer: QueueConsumer;
  readonly unacknowledged: Set<Message>;
  isLeaving: boolean;
  onLeft: () => void;
}

/** Options of {@link MemoryBroker}. */
export interface MemoryBrokerOptions {
  /** Number of messages in a queue above which publishers wait (backpressure). @defaultValue 10000 */
  capacity?: number;
}

/** Message broker for the connections of one process. Messages do not survive it. */
export class MemoryBroker {
  readonly #capacity: number;
  /** Ids of messages differ from those of other brokers. */
  readonly #id = crypto.randomUUID();
  #messageCount = 0;
  readonly #index = new TopicIndex<Queue>();
  readonly #named = new Map<string, Queue>();

  constructor({ capacity = 10_000 }: MemoryBrokerOptions = {}) {
    if (!(capacity >= 1)) throw invalidField('capacity', 'must be at least 1');
    this.#capacity = capacity;
  }

  /** Adds a message to every queue with a matching pattern. Returns a promise only if one of them is full. */
  publish(
    publisher: object,
    topic: string,
    payload: string,
    properties: MessageProperties,
  ): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined;
    const id = `${this.#id}:${++this.#messageCount}`;
    for (const queue of this.#index.match(topic)) {
      const message: Message = { topic, payload, properties: copyMap(properties), redelivered: false, id };
      const wait = queue.put(message, publisher);
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits).then(() => undefined);
  }

  /** Gives up what a publisher waits to publish. */
  withdraw(publisher: object): void {
    for (const queue of this.#index.all()) queue.withdraw(publisher);
  }

  /** Adds a consumer to a queue, which is created if necessary. */
  join(
    name: string | undefined,
    patterns: readonly string[],
    isShared: boolean,
    consumer: QueueConsumer,
  ): QueueMembership {
    const queue = (name !== undefined && this.#named.get(name)) || new Queue(this.#capacity);
    if (name !== undefined) {
      if (queue.hasConsumers && !(isShared && queue.isShared)) throw queueInUseError(name);
      this.#named.set(name, queue);
    }
    queue.isShared = isShared;
    // The latest subscriber determines the patterns of the queue, as with a real broker.
    for (const pattern of queue.patterns) if (!patterns.includes(pattern)) this.#index.delete(pattern, queue);
    for (const pattern of patterns) this.#index.add(pattern, queue);
    queue.patterns = patterns;
    const state = queue.addConsumer(consumer);
    const removeUnnamed = (): void => {
      if (name !== undefined) return;
      for (const pattern of patterns) this.#index.delete(pattern, queue);
      queue.drop();
    };
    return {
      leave: async () => {
        const left = queue.removeConsumer(state);
        removeUnnamed();
        await left;
      },
      crash: () => {
        queue.crash(state);
        removeUnnamed();
      },
    };
  }

  /** Removes a queue without subscribers and its messages. */
  remove(name: string): void {
    const queue = this.#named.get(name);
    if (!queue || queue.hasConsumers) return;
    this.#named.delete(name);
    for (const pattern of queue.patterns) this.#index.delete(pattern, queue);
    queue.drop();
  }
}

/** Membership of a consumer in a queue. */
export interface QueueMembership {
  /** Accepts no more messages, and waits for those in progress. */
  leave(): Promise<void>;
  /** Leaves immediately, like a killed process; unacknowledged messages are redelivered. */
  crash(): void;
}

class Queue {
  isShared = false;
  patterns: readonly string[] = [];
  readonly #capacity: number;
  readonly #waiting = new Fifo<Message>();
  readonly #blocked = new Fifo<BlockedMessage>();
  #consumers: ConsumerState[] = [];
  #turn = 0;
  #isScheduled = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get hasConsumers(): boolean {
    return this.#consumers.length > 0;
  }

  put(message: Message, publisher: object): Promise<void> | undefined {
    if (this.#waiting.size < this.#capacity && this.#blocked.size === 0) {
      this.#waiting.push(message);
      this.#schedule();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#blocked.push({ message, publisher, settle: (error) => (error ? reject(error) : resolve()) });
    });
  }

  withdraw(publisher: object): void {
    const error = new A2AError(
      'UNAVAILABLE',
      'The connection was closed before the queue had room for the message',
    );
    for (const blocked of this.#blocked.remove((item) => item.publisher === publisher)) blocked.settle(error);
  }

  /** Removes all messages and releases waiting publishers. */
  drop(): void {
    for (const blocked of this.#blocked.remove(() => true)) blocked.settle();
    this.#waiting.remove(() => true);
  }

  addConsumer(consumer: QueueConsumer): ConsumerState {
    const state: ConsumerState = { consumer, unacknowledged: new Set(), isLeaving: false, onLeft: () => {} };
    this.#consumers.push(state);
    this.#schedule();
    return state;
  }

  removeConsumer(state: ConsumerState): Promise<void> {
    state.isLeaving = true;
    if (state.unacknowledged.size === 0) this.#remove(state);
    else return new Promise((left) => (state.onLeft = left));
    return Promise.resolve();
  }

  crash(state: ConsumerState): void {
    for (const message of state.unacknowledged) message.redelivered = true;
    this.#waiting.unshift([...state.unacknowledged]);
    state.unacknowledged.clear();
    state.isLeaving = true;
    this.#remove(state);
    this.#schedule();
  }

  #remove(state: ConsumerState): void {
    this.#consumers = this.#consumers.filter((other) => other !== state);
    state.onLeft();
  }

  /** Delivers in a microtask, because a handler may publish and must not be called recursively. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#deliverAll();
    });
  }

  #deliverAll(): void {
    // Messages that are published meanwhile are delivered in the next turn.
    for (let remaining = this.#waiting.size; remaining > 0; remaining--) {
      const state = this.#nextFreeConsumer();
      const message = state && this.#waiting.shift();
      if (!message) return;
      const blocked = this.#blocked.shift();
      if (blocked) {
        this.#waiting.push(blocked.message);
        blocked.settle();
      }
      this.#deliver(state, message);
    }
    if (this.#waiting.size > 0) this.#schedule();
  }

  #nextFreeConsumer(): ConsumerState | undefined {
    for (let tried = 0; tried < this.#consumers.length; tried++) {
      this.#turn = (this.#turn + 1) % this.#consumers.length;
      const state = this.#consumers[this.#turn];
      if (state && !state.isLeaving && state.unacknowledged.size < state.consumer.concurrency) return state;
    }
    return undefined;
  }

  #deliver(state: ConsumerState, message: Message): void {
    state.unacknowledged.add(message);
    const { topic, payload, properties, redelivered, id } = message;
    try {
      const handling = state.consumer.handle({ topic, payload, properties, redelivered, id });
      if (handling === undefined) {
        this.#acknowledge(state, message);
        return;
      }
      handling.then(
        () => this.#acknowledge(state, message),
        (error: unknown) => {
          state.consumer.onError(error);
          this.#acknowledge(state, message);
        },
      );
    } catch (error) {
      state.consumer.onError(error);
      this.#acknowledge(state, message);
    }
  }

  #acknowledge(state: ConsumerState, message: Message): void {
    // After a crash the message has been redelivered to another consumer.
    if (!state.unacknowledged.delete(message)) return;
    if (state.isLeaving && state.unacknowledged.size === 0) this.#remove(state);
    if (this.#waiting.size > 0) this.#schedule();
  }
}

/** Copies properties, because subscribers must not see later changes of the publisher. */
function copyMap(map: MessageProperties): { [name: string]: MessageProperty } {
  const copy: { [name: string]: MessageProperty } = {};
  for (const name in map) {
    const value = map[name];
    // Assigning `__proto__` would change the prototype of the copy.
    if (value !== undefined && name !== '__proto__')
      copy[name] = typeof value === 'object' ? copyValue(value) : value;
  }
  return copy;
}

function copyValue(value: MessageProperty): MessageProperty {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly MessageProperty[]).map(copyValue);
  return copyMap(value as MessageProperties);
}
