import type { Passage } from '../../../../src/tap/passage.ts';

/** The parties of some passages, in the order in which they were first seen. */
export class Parties {
  /** A map keeps the order in which its keys came. */
  readonly #passages = new Map<string, number>();
  #places: Map<string, number> | undefined;

  /** Their names, one column each. */
  get names(): readonly string[] {
    return [...this.#passages.keys()];
  }

  get size(): number {
    return this.#passages.size;
  }

  /** The column of a party, counted from 0. */
  columnOf(name: string): number {
    this.#places ??= new Map(this.names.map((each, index) => [each, index]));
    return this.#places.get(name) ?? 0;
  }

  add({ from, to }: Passage): void {
    for (const name of new Set([from, to])) {
      const count = this.#passages.get(name);
      if (count === undefined) this.#places = undefined;
      this.#passages.set(name, (count ?? 0) + 1);
    }
  }

  /** Takes a passage off; a party whose last one goes is gone. */
  remove({ from, to }: Passage): void {
    for (const name of new Set([from, to])) {
      const count = (this.#passages.get(name) ?? 0) - 1;
      if (count > 0) this.#passages.set(name, count);
      else if (this.#passages.delete(name)) this.#places = undefined;
    }
  }

  clear(): void {
    this.#passages.clear();
    this.#places = undefined;
  }
}
