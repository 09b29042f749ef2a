import type { Delivery } from './link.ts';

/** Options of {@link Workbench}. */
export interface WorkbenchOptions {
  readonly work: (delivery: Delivery, id: string | undefined) => void | Promise<void>;
  /** How many ids of finished messages are remembered. */
  readonly remembered: number;
  /** Called with what `work` threw; the message counts as done. */
  failed(error: unknown): void;
  /** Called when a message that has an id is finished. */
  done?(id: string): void;
}

/**
 * Where messages are worked on, each once: one that comes again while it is worked on waits for the same end, and one
 * that was finished is only acknowledged. What a process did not finish is unknown to the next, so it is done again.
 */
export class Workbench {
  readonly #options: WorkbenchOptions;
  readonly #active = new Map<string | object, (() => void)[]>();
  readonly #finished = new Set<string>();
  #idle: (() => void)[] = [];

  constructor(options: WorkbenchOptions) {
    this.#options = options;
  }

  /** How many messages are worked on. */
  get size(): number {
    return this.#active.size;
  }

  /** What is known of a message. */
  knows(id: string): 'active' | 'finished' | undefined {
    if (this.#active.has(id)) return 'active';
    return this.#finished.has(id) ? 'finished' : undefined;
  }

  /** Works on a message, unless that was or is being done, and acknowledges it afterwards. */
  take(id: string | undefined, delivery: Delivery, acknowledge: () => void): void {
    if (id !== undefined && this.#finished.has(id)) {
      acknowledge();
      this.#options.done?.(id);
      return;
    }
    const key = id ?? {};
    const running = this.#active.get(key);
    if (running) {
      running.push(acknowledge);
      return;
    }
    this.#active.set(key, [acknowledge]);
    try {
      const working = this.#options.work(delivery, id);
      if (working === undefined) {
        this.#end(key);
        return;
      }
      working.then(
        () => this.#end(key),
        (error: unknown) => {
          this.#options.failed(error);
          this.#end(key);
        },
      );
    } catch (error) {
      this.#options.failed(error);
      this.#end(key);
    }
  }

  /** Waits until nothing is worked on. */
  idle(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve();
    return new Promise((idle) => this.#idle.push(idle));
  }

  #end(key: string | object): void {
    const acknowledgements = this.#active.get(key) ?? [];
    this.#active.delete(key);
    if (typeof key === 'string') {
      this.#finished.add(key);
      if (this.#finished.size > this.#options.remembered) {
        const [oldest] = this.#finished;
        if (oldest !== undefined) this.#finished.delete(oldest);
      }
    }
    for (const acknowledge of acknowledgements) acknowledge();
    if (typeof key === 'string') this.#options.done?.(key);
    if (this.#active.size > 0) return;
    for (const idle of this.#idle.splice(0)) idle();
  }
}
