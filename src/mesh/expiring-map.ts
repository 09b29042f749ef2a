import type { Clock } from '../primitives/clock.ts';

/** How much is remembered, and for how long. */
export interface ExpiringMapOptions<V> {
  readonly size: number;
  /** In milliseconds since something was last put. */
  readonly age: number;
  readonly clock: Clock;
  /** Says that something is still needed; it then outlives both bounds. */
  readonly isNeeded?: (value: V) => boolean;
}

/** How many that are still needed are passed over to make room for one. */
const maxLooks = 64;

/** Remembers things by name; what was not put for the longest time is forgotten first. */
export class ExpiringMap<V> {
  readonly #memory: ExpiringMapOptions<V>;
  readonly #kept = new Map<string, { value: V; at: number }>();

  constructor(memory: ExpiringMapOptions<V>) {
    this.#memory = memory;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): V | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    if (!this.#isOver(found) || this.#memory.isNeeded?.(found.value)) return found.value;
    this.#kept.delete(key);
    return undefined;
  }

  /** Puts something, anew if it was there. */
  set(key: string, value: V): void {
    this.#kept.delete(key);
    this.#kept.set(key, { value, at: this.#memory.clock.now() });
    this.#makeRoom();
  }

  delete(key: string): void {
    this.#kept.delete(key);
  }

  *values(): Generator<V, void, undefined> {
    for (const kept of this.#kept.values()) if (!this.#isOver(kept)) yield kept.value;
  }

  #isOver({ at }: { at: number }): boolean {
    return this.#memory.clock.now() - at >= this.#memory.age;
  }

  #makeRoom(): void {
    let looks = 0;
    for (const [key, kept] of this.#kept) {
      if (this.#kept.size <= this.#memory.size && !this.#isOver(kept)) return;
      if (this.#memory.isNeeded?.(kept.value)) {
        if (++looks >= maxLooks) return;
        continue;
      }
      this.#kept.delete(key);
    }
  }
}
