import { type Clock, systemClock } from './clock.ts';

/** Options of {@link LruMap} and {@link LruSet}. */
export interface LruOptions<V> {
  readonly maxEntries: number;
  /** Milliseconds from `set` until an entry expires. @defaultValue unlimited */
  readonly maxAge?: number;
  /** @defaultValue the system clock */
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** Returns false for entries that must be retained beyond both limits. @defaultValue all entries can be evicted */
  readonly canEvict?: (value: V) => boolean;
}

/** Bounds the cost of one `set` when many of the oldest entries cannot be evicted. */
const maxSkipped = 64;

/** Map of limited size that evicts the least recently used entry. Values must not be `undefined`. */
export class LruMap<K, V> {
  readonly #entries = new Map<K, { value: V; storedAt: number }>();
  readonly #maxEntries: number;
  readonly #maxAge: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #canEvict: ((value: V) => boolean) | undefined;

  constructor({ maxEntries, maxAge = Infinity, clock = systemClock, canEvict }: LruOptions<V>) {
    this.#maxEntries = maxEntries;
    this.#maxAge = maxAge;
    this.#clock = clock;
    this.#canEvict = canEvict;
  }

  /** Number of entries, including expired ones that have not been removed yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns a value and marks it as used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (this.#isExpired(entry) && this.#isEvictable(entry)) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Returns true if the key has a value, without marking it as used. */
  has(key: K): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !(this.#isExpired(entry) && this.#isEvictable(entry));
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, storedAt: this.#maxAge === Infinity ? 0 : this.#clock.monotonic() });
    this.#evict();
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Iterates over the values that have not expired, least recently used first. */
  *values(): Generator<V, void, undefined> {
    for (const entry of this.#entries.values()) if (!this.#isExpired(entry)) yield entry.value;
  }

  #isExpired({ storedAt }: { storedAt: number }): boolean {
    return this.#maxAge !== Infinity && this.#clock.monotonic() - storedAt >= this.#maxAge;
  }

  #isEvictable({ value }: { value: V }): boolean {
    return this.#canEvict?.(value) ?? true;
  }

  #evict(): void {
    let skipped = 0;
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && !this.#isExpired(entry)) return;
      if (this.#isEvictable(entry)) this.#entries.delete(key);
      else if (++skipped >= maxSkipped) return;
    }
  }
}

/** Set of limited size that evicts the least recently added key. */
export class LruSet<K> {
  readonly #map: LruMap<K, true>;

  constructor(options: Omit<LruOptions<never>, 'canEvict'>) {
    this.#map = new LruMap(options);
  }

  get size(): number {
    return this.#map.size;
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  add(key: K): void {
    this.#map.set(key, true);
  }

  delete(key: K): boolean {
    return this.#map.delete(key);
  }

  clear(): void {
    this.#map.clear();
  }
}
