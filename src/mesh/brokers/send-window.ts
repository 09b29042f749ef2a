import { Fifo } from './fifo.ts';

/** An item with a number that identifies its acknowledgement. */
export interface NumberedItem {
  readonly number: number;
}

/**
 * Messages sent to a broker and not acknowledged yet. The window limits their number (backpressure); after an
 * interruption, unacknowledged items are sent again in order.
 */
export class SendWindow<T extends NumberedItem> {
  readonly #waiting = new Fifo<T>();
  readonly #unacknowledged = new Map<number, T>();
  readonly #send: (item: T) => void;
  readonly #onRoom: () => void;
  #limit = 1;
  #isOpen = false;

  /** @param onRoom - called when a pushed item would be sent immediately. */
  constructor(send: (item: T) => void, onRoom: () => void = () => {}) {
    this.#send = send;
    this.#onRoom = onRoom;
  }

  /** True if a pushed item is sent immediately. */
  get hasRoom(): boolean {
    return this.#isOpen && this.#waiting.size === 0 && this.#unacknowledged.size < this.#limit;
  }

  unacknowledged(): Iterable<T> {
    return this.#unacknowledged.values();
  }

  /** Adds an item, which is sent when the window has room. */
  push(item: T): void {
    this.#waiting.push(item);
    this.#flush();
  }

  /** Removes an item that the broker has acknowledged or rejected. */
  remove(number: number): T | undefined {
    const item = this.#unacknowledged.get(number);
    if (item) this.#unacknowledged.delete(number);
    this.#flush();
    return item;
  }

  /** Opens the window after a connection was established. */
  open(limit: number): void {
    this.#limit = limit;
    this.#isOpen = true;
    this.#flush();
  }

  /** Requeues an item that the broker cannot store now. It is sent first once the window is opened again. */
  requeue(number: number): void {
    const item = this.#unacknowledged.get(number);
    this.#isOpen = false;
    if (!item) return;
    this.#unacknowledged.delete(number);
    this.#waiting.unshift([item]);
  }

  /** Closes the window after an interruption, and requeues unacknowledged items. */
  pause(): void {
    this.#isOpen = false;
    this.#waiting.unshift([...this.#unacknowledged.values()]);
    this.#unacknowledged.clear();
  }

  /** Removes and returns all items. */
  clear(): T[] {
    this.pause();
    return this.#waiting.remove(() => true);
  }

  #flush(): void {
    while (this.#isOpen && this.#unacknowledged.size < this.#limit) {
      const item = this.#waiting.shift();
      if (!item) {
        this.#onRoom();
        return;
      }
      this.#unacknowledged.set(item.number, item);
      this.#send(item);
    }
  }
}
