import type { MeshMessage } from '../../src/mesh/brokers/broker-connection.ts';

/** Collects messages, or something else, and tells when there are enough. */
export class Collector<T = MeshMessage> {
  readonly all: T[] = [];
  #waiting: { count: number; enough: () => void }[] = [];

  /** To be given to a subscription. */
  readonly take = (item: T): void => {
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

  /** Waits until there are so many. */
  async until(count: number): Promise<T[]> {
    if (this.all.length < count) await new Promise<void>((enough) => this.#waiting.push({ count, enough }));
    return this.all;
  }
}

/** Something that opens when it is told to. */
export class Latch {
  #open: () => void = () => {};
  readonly passed = new Promise<void>((open) => {
    this.#open = open;
  });

  open(): void {
    this.#open();
  }
}

/** Numbers from 0, as texts. */
export const numberTexts = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at));
