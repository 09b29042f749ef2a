import type { MeshMessage } from '../../src/mesh/brokers/broker-connection.ts';

/** Collects items, by default mesh messages, and waits for a number of them. */
export class Collector<T = MeshMessage> {
  readonly all: T[] = [];
  #waiting: { count: number; enough: () => void }[] = [];

  /** Pass this as the handler of a subscription. */
  readonly add = (item: T): void => {
    this.all.push(item);
    this.#waiting = this.#waiting.filter(({ count, enough }) => {
      if (this.all.length < count) return true;
      enough();
      return false;
    });
  };

  get payloads(): string[] {
    return this.all.map((item) => (item as MeshMessage).payload);
  }

  async waitForCount(count: number): Promise<T[]> {
    if (this.all.length < count) await new Promise<void>((enough) => this.#waiting.push({ count, enough }));
    return this.all;
  }
}

/** A promise that `open()` resolves. */
export class Latch {
  #open: () => void = () => {};
  readonly opened = new Promise<void>((open) => {
    this.#open = open;
  });

  open(): void {
    this.#open();
  }
}

/** Returns `'0'`, `'1'`, … up to `count - 1`. */
export const numberTexts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(index));
