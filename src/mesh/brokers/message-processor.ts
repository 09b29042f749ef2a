import { LruSet } from '../../primitives/lru-map.ts';
import { Fifo } from './fifo.ts';
import type { MeshMessage } from './broker-connection.ts';

/** Options of {@link MessageProcessor}. */
export interface MessageProcessorOptions {
  readonly handle: (message: MeshMessage) => void | Promise<void>;
  /** Maximum number of messages in progress. */
  readonly concurrency: number;
  /** Number of ids of finished messages that are remembered for deduplication. */
  readonly dedupWindow: number;
  /** Called with errors of `handle`; the message counts as finished. */
  onError(error: unknown): void;
}

/** A message in progress or waiting. */
interface ActiveMessage {
  readonly id: string | undefined;
  readonly message: MeshMessage;
  /** One for each delivery. */
  readonly acknowledgements: (() => void)[];
}

/**
 * Processes each message once. A duplicate of a message in progress waits for the same result; a duplicate of a finished
 * message is acknowledged immediately. Delivery is at-least-once: after a crash, unfinished messages are processed again.
 */
export class MessageProcessor {
  readonly #options: MessageProcessorOptions;
  readonly #active = new Map<string, ActiveMessage>();
  readonly #finished: LruSet<string>;
  /** Messages that the broker sent beyond the concurrency; they wait unacknowledged. */
  readonly #waiting = new Fifo<ActiveMessage>();
  #running = 0;
  readonly #onIdle: (() => void)[] = [];
  #isClosing = false;

  constructor(options: MessageProcessorOptions) {
    this.#options = options;
    this.#finished = new LruSet({ maxEntries: options.dedupWindow });
  }

  /** Number of messages in progress and waiting. */
  get size(): number {
    return this.#running + this.#waiting.size;
  }

  /** Processes a message unless it is a duplicate, and acknowledges it afterwards. */
  process(id: string | undefined, message: MeshMessage, acknowledge: () => void): void {
    if (this.#isClosing) return;
    if (id !== undefined && this.#finished.has(id)) {
      acknowledge();
      return;
    }
    const active = id === undefined ? undefined : this.#active.get(id);
    if (active) {
      active.acknowledgements.push(acknowledge);
      return;
    }
    const next: ActiveMessage = { id, message, acknowledgements: [acknowledge] };
    if (id !== undefined) this.#active.set(id, next);
    if (this.#running < this.#options.concurrency) this.#run(next);
    else this.#waiting.push(next);
  }

  /** Waits until no message is in progress. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((onIdle) => this.#onIdle.push(onIdle));
  }

  /** Starts no more messages, and waits for those in progress. The others stay unacknowledged. */
  close(): Promise<void> {
    this.#isClosing = true;
    return this.idle();
  }

  #run(active: ActiveMessage): void {
    this.#running++;
    try {
      const handling = this.#options.handle(active.message);
      if (handling === undefined) {
        this.#finish(active);
        return;
      }
      handling.then(
        () => this.#finish(active),
        (error: unknown) => {
          this.#options.onError(error);
          this.#finish(active);
        },
      );
    } catch (error) {
      this.#options.onError(error);
      this.#finish(active);
    }
  }

  #finish({ id, acknowledgements }: ActiveMessage): void {
    this.#running--;
    if (id !== undefined) {
      this.#active.delete(id);
      this.#finished.add(id);
    }
    for (const acknowledge of acknowledgements) acknowledge();
    const next = this.#isClosing ? undefined : this.#waiting.shift();
    if (next) this.#run(next);
    else if (this.#running === 0) for (const onIdle of this.#onIdle.splice(0)) onIdle();
  }
}
