import { Fifo } from './fifo.ts';
import type { MeshMessage } from './broker-connection.ts';

/** Options of {@link MessageProcessor}. */
export interface MessageProcessorOptions {
  readonly work: (delivery: MeshMessage, id: string | undefined) => void | Promise<void>;
  /** How many messages are worked on at once. */
  readonly concurrency: number;
  /** How many ids of finished messages are remembered. */
  readonly remembered: number;
  /** Called with what `work` threw; the message counts as done. */
  failed(error: unknown): void;
  /** Called when a message that has an id is finished. */
  done?(id: string): void;
}

/** A message that was taken and is not finished. */
interface Piece {
  readonly id: string | undefined;
  readonly delivery: MeshMessage;
  /** One for each time it was delivered. */
  readonly acknowledgements: (() => void)[];
}

/**
 * Where messages are worked on, each once: one that comes again while it is worked on waits for the same end, and one
 * that was finished is only acknowledged. What a process did not finish is unknown to the next, so it is done again.
 */
export class MessageProcessor {
  readonly #options: MessageProcessorOptions;
  readonly #active = new Map<string, Piece>();
  readonly #finished = new Set<string>();
  /** What a broker sent although it was told how many we want; it waits without being acknowledged. */
  readonly #waiting = new Fifo<Piece>();
  #running = 0;
  #closed: (() => void) | undefined;
  #isClosing = false;

  constructor(options: MessageProcessorOptions) {
    this.#options = options;
  }

  /** How many messages were taken and are not finished. */
  get size(): number {
    return this.#running + this.#waiting.size;
  }

  /** What is known of a message. */
  knows(id: string): 'active' | 'finished' | undefined {
    if (this.#active.has(id)) return 'active';
    return this.#finished.has(id) ? 'finished' : undefined;
  }

  /** Works on a message, unless that was or is being done, and acknowledges it afterwards. */
  take(id: string | undefined, delivery: MeshMessage, acknowledge: () => void): void {
    if (this.#isClosing) return;
    if (id !== undefined && this.#finished.has(id)) {
      acknowledge();
      this.#options.done?.(id);
      return;
    }
    const active = id === undefined ? undefined : this.#active.get(id);
    if (active) {
      active.acknowledgements.push(acknowledge);
      return;
    }
    const piece: Piece = { id, delivery, acknowledgements: [acknowledge] };
    if (id !== undefined) this.#active.set(id, piece);
    if (this.#running < this.#options.concurrency) this.#run(piece);
    else this.#waiting.push(piece);
  }

  /** Begins nothing more, and waits for what was begun. The rest is not acknowledged. */
  close(): Promise<void> {
    this.#isClosing = true;
    if (this.#running === 0) return Promise.resolve();
    return new Promise((closed) => {
      this.#closed = closed;
    });
  }

  #run(piece: Piece): void {
    this.#running++;
    try {
      const working = this.#options.work(piece.delivery, piece.id);
      if (working === undefined) {
        this.#end(piece);
        return;
      }
      working.then(
        () => this.#end(piece),
        (error: unknown) => {
          this.#options.failed(error);
          this.#end(piece);
        },
      );
    } catch (error) {
      this.#options.failed(error);
      this.#end(piece);
    }
  }

  #end({ id, acknowledgements }: Piece): void {
    this.#running--;
    if (id !== undefined) this.#remember(id);
    for (const acknowledge of acknowledgements) acknowledge();
    if (id !== undefined) this.#options.done?.(id);
    if (this.#isClosing) {
      if (this.#running === 0) this.#closed?.();
      return;
    }
    const next = this.#waiting.shift();
    if (next) this.#run(next);
  }

  #remember(id: string): void {
    this.#active.delete(id);
    this.#finished.add(id);
    if (this.#finished.size <= this.#options.remembered) return;
    const [oldest] = this.#finished;
    if (oldest !== undefined) this.#finished.delete(oldest);
  }
}
