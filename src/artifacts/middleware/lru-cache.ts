/** As many things as there is room for; the one that was not asked for the longest gives way. */
export class LruCache<T> {
  readonly #max: number;
  readonly #things = new Map<string, T>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): T | undefined {
    const thing = this.#things.get(key);
    if (thing === undefined) return undefined;
    this.#things.delete(key);
    this.#things.set(key, thing);
    return thing;
  }

  set(key: string, thing: T): void {
    this.#things.delete(key);
    this.#things.set(key, thing);
    if (this.#things.size <= this.#max) return;
    for (const oldest of this.#things.keys()) {
      this.#things.delete(oldest);
      return;
    }
  }
}
