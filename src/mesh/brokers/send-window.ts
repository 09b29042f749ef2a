import { Fifo } from './fifo.ts';

/** Something numbered that is on its way to the broker. */
export interface NumberedItem {
  readonly number: number;
}

/**
 * What was given to the broker and not yet taken by it, never more than a few at once. After an outage everything that
 * the broker did not take goes again, in its order.
 */
export class SendWindow<T extends NumberedItem> {
  readonly #waiting = new Fifo<T>();
  readonly #flying = new Map<number, T>();
  readonly #send: (item: T) => void;
  readonly #hasRoom: () => void;
  #limit = 1;
  #isOpen = false;

  /** @param hasRoom - called when something could be pushed and would go at once. */
  constructor(send: (item: T) => void, hasRoom: () => void = () => {}) {
    this.#send = send;
    this.#hasRoom = hasRoom;
  }

  /** Whether what is pushed goes at once. */
  get isFree(): boolean {
    return this.#isOpen && this.#waiting.size === 0 && this.#flying.size < this.#limit;
  }

  /** What the broker has not yet taken. */
  flying(): Iterable<T> {
    return this.#flying.values();
  }

  /** Takes something; it goes when there is room. */
  push(item: T): void {
    this.#waiting.push(item);
    this.#flush();
  }

  /** The broker has it, or will never take it. */
  settle(number: number): T | undefined {
    const item = this.#flying.get(number);
    if (item) this.#flying.delete(number);
    this.#flush();
    return item;
  }

  /** The broker is there and takes so many at once. */
  open(limit: number): void {
    this.#limit = limit;
    this.#isOpen = true;
    this.#flush();
  }

  /** The broker has no room for something now: it goes again, before the rest, once this is opened again. */
  putBack(number: number): void {
    const item = this.#flying.get(number);
    this.#isOpen = false;
    if (!item) return;
    this.#flying.delete(number);
    this.#waiting.unshift([item]);
  }

  /** The broker is gone, or wants us to wait. */
  pause(): void {
    this.#isOpen = false;
    this.#waiting.unshift([...this.#flying.values()]);
    this.#flying.clear();
  }

  /** Gives up everything. */
  clear(): T[] {
    this.pause();
    return this.#waiting.remove(() => true);
  }

  #flush(): void {
    while (this.#isOpen && this.#flying.size < this.#limit) {
      const item = this.#waiting.shift();
      if (!item) {
        this.#hasRoom();
        return;
      }
      this.#flying.set(item.number, item);
      this.#send(item);
    }
  }
}
