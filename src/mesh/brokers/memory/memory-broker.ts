import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { Fifo } from '../fifo.ts';
import type { MeshMessage, MessageProperties, MessageProperty } from '../broker-connection.ts';
import { queueInUseError } from '../queue-key.ts';
import { TopicIndex } from '../topic-pattern.ts';

/** A message that waits in a queue. */
interface Message {
  readonly topic: string;
  readonly payload: string;
  readonly properties: MessageProperties;
  isAgain: boolean;
}

/** A message that a queue has no room for yet. */
interface Blocked {
  readonly message: Message;
  readonly publisher: object;
  settle(error?: A2AError): void;
}

/** Somebody who takes messages from a queue. */
export interface QueueConsumer {
  readonly work: (delivery: MeshMessage) => void | Promise<void>;
  readonly concurrency: number;
  /** What `work` threw; the message counts as done. */
  failed(error: unknown): void;
}

/** What a consumer has taken from its queue and not finished. */
interface Seat {
  readonly consumer: QueueConsumer;
  readonly taken: Set<Message>;
  isLeaving: boolean;
  left: () => void;
}

/** Options of {@link MemoryBroker}. */
export interface MemoryBrokerOptions {
  /** How many messages wait in one queue before whoever publishes has to wait too. @defaultValue 10000 */
  capacity?: number;
}

/** What links of one process meet at. Nothing survives the process. */
export class MemoryBroker {
  readonly #capacity: number;
  readonly #index = new TopicIndex<Queue>();
  readonly #named = new Map<string, Queue>();

  constructor({ capacity = 10_000 }: MemoryBrokerOptions = {}) {
    if (!(capacity >= 1)) throw invalidField('capacity', 'must be at least 1');
    this.#capacity = capacity;
  }

  /** Puts a message into every queue that wants it. Gives a promise only when one of them is full. */
  publish(
    publisher: object,
    topic: string,
    payload: string,
    properties: MessageProperties,
  ): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const queue of this.#index.match(topic)) {
      const message: Message = { topic, payload, properties: copyMap(properties), isAgain: false };
      const wait = queue.put(message, publisher);
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits).then(() => undefined);
  }

  /** Gives up what a publisher waits to publish. */
  withdraw(publisher: object): void {
    for (const queue of this.#index.all()) queue.withdraw(publisher);
  }

  /** Takes a seat at a queue, which begins to be if it is not there. */
  join(
    name: string | undefined,
    patterns: readonly string[],
    isShared: boolean,
    consumer: QueueConsumer,
  ): QueueMembership {
    const queue = (name !== undefined && this.#named.get(name)) || new Queue(this.#capacity);
    if (name !== undefined) {
      if (queue.isTaken && !(isShared && queue.isShared)) throw queueInUseError(name);
      this.#named.set(name, queue);
    }
    queue.isShared = isShared;
    // As on a broker, whoever subscribed last says what the queue is for.
    for (const pattern of queue.patterns) if (!patterns.includes(pattern)) this.#index.delete(pattern, queue);
    for (const pattern of patterns) this.#index.add(pattern, queue);
    queue.patterns = patterns;
    const seat = queue.sit(consumer);
    const forget = (): void => {
      if (name !== undefined) return;
      for (const pattern of patterns) this.#index.delete(pattern, queue);
      queue.drop();
    };
    return {
      leave: async () => {
        const left = queue.leave(seat);
        forget();
        await left;
      },
      vanish: () => {
        queue.vanish(seat);
        forget();
      },
    };
  }

  /** Forgets a queue that nobody subscribes to, and what waits in it. */
  remove(name: string): void {
    const queue = this.#named.get(name);
    if (!queue || queue.isTaken) return;
    this.#named.delete(name);
    for (const pattern of queue.patterns) this.#index.delete(pattern, queue);
    queue.drop();
  }
}

/** A seat at a queue, seen from outside. */
export interface QueueMembership {
  /** Takes no more, and waits for what was taken. */
  leave(): Promise<void>;
  /** Is gone at once, as a process that was killed; what was not finished is for others. */
  vanish(): void;
}

class Queue {
  isShared = false;
  patterns: readonly string[] = [];
  readonly #capacity: number;
  readonly #waiting = new Fifo<Message>();
  readonly #blocked = new Fifo<Blocked>();
  #seats: Seat[] = [];
  #turn = 0;
  #isScheduled = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isTaken(): boolean {
    return this.#seats.length > 0;
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
      'The link was closed before the queue had room for the message',
    );
    for (const blocked of this.#blocked.remove((item) => item.publisher === publisher)) blocked.settle(error);
  }

  /** Nobody will come for what waits, so nobody waits for room. */
  drop(): void {
    for (const blocked of this.#blocked.remove(() => true)) blocked.settle();
    this.#waiting.remove(() => true);
  }

  sit(consumer: QueueConsumer): Seat {
    const seat: Seat = { consumer, taken: new Set(), isLeaving: false, left: () => {} };
    this.#seats.push(seat);
    this.#schedule();
    return seat;
  }

  leave(seat: Seat): Promise<void> {
    seat.isLeaving = true;
    if (seat.taken.size === 0) this.#stand(seat);
    else return new Promise((left) => (seat.left = left));
    return Promise.resolve();
  }

  vanish(seat: Seat): void {
    for (const message of seat.taken) message.isAgain = true;
    this.#waiting.unshift([...seat.taken]);
    seat.taken.clear();
    seat.isLeaving = true;
    this.#stand(seat);
    this.#schedule();
  }

  #stand(seat: Seat): void {
    this.#seats = this.#seats.filter((other) => other !== seat);
    seat.left();
  }

  /** Hands over at the end of the turn: whoever publishes from within its work must not nest. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#handOver();
    });
  }

  #handOver(): void {
    // A turn is not for ever: what is published meanwhile comes in the next one.
    for (let left = this.#waiting.size; left > 0; left--) {
      const seat = this.#freeSeat();
      const message = seat && this.#waiting.shift();
      if (!message) return;
      const blocked = this.#blocked.shift();
      if (blocked) {
        this.#waiting.push(blocked.message);
        blocked.settle();
      }
      this.#give(seat, message);
    }
    if (this.#waiting.size > 0) this.#schedule();
  }

  #freeSeat(): Seat | undefined {
    for (let tried = 0; tried < this.#seats.length; tried++) {
      this.#turn = (this.#turn + 1) % this.#seats.length;
      const seat = this.#seats[this.#turn];
      if (seat && !seat.isLeaving && seat.taken.size < seat.consumer.concurrency) return seat;
    }
    return undefined;
  }

  #give(seat: Seat, message: Message): void {
    seat.taken.add(message);
    const { topic, payload, properties, isAgain } = message;
    try {
      const working = seat.consumer.work({ topic, payload, properties, redelivered: isAgain });
      if (working === undefined) {
        this.#done(seat, message);
        return;
      }
      working.then(
        () => this.#done(seat, message),
        (error: unknown) => {
          seat.consumer.failed(error);
          this.#done(seat, message);
        },
      );
    } catch (error) {
      seat.consumer.failed(error);
      this.#done(seat, message);
    }
  }

  #done(seat: Seat, message: Message): void {
    // Somebody who vanished has nothing to say about what is others' now.
    if (!seat.taken.delete(message)) return;
    if (seat.isLeaving && seat.taken.size === 0) this.#stand(seat);
    if (this.#waiting.size > 0) this.#schedule();
  }
}

/** Copies properties, so that nobody changes what somebody else reads. */
function copyMap(map: MessageProperties): { [name: string]: MessageProperty } {
  const copy: { [name: string]: MessageProperty } = {};
  for (const name in map) {
    const value = map[name];
    // Assigning this one would change what the copy is.
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
