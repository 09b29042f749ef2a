import type { MeshMessage } from '../../src/mesh/brokers/broker-connection.ts';

/** Collects items, by default mesh messages, and waits for some of them. */
export class Collector<T = MeshMessage> {
  readonly all: T[] = [];
  #waiting: { isEnough: () => boolean; enough: () => void }[] = [];

  /** Pass this as the handler of a subscription. */
  readonly add = (item: T): void => {
    this.all.push(item);
    this.#waiting = this.#waiting.filter(({ isEnough, enough }) => {
      if (!isEnough()) return true;
      enough();
      return false;
    });
  };

  get payloads(): string[] {
    return this.all.map((item) => (item as MeshMessage).payload);
  }

  waitForCount(count: number): Promise<T[]> {
    return this.waitFor(() => this.all.length >= count);
  }

  /** Waits until a condition on the collected items is true. */
  async waitFor(isEnough: () => boolean): Promise<T[]> {
    if (!isEnough()) await new Promise<void>((enough) => this.#waiting.push({ isEnough, enough }));
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
