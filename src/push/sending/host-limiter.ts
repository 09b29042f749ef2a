/** Releases a slot. `isHanging`: the host did not respond before the timeout. */
export type ReleaseSlot = (isHanging: boolean) => void;

interface HostSlots {
  readonly host: string;
  running: number;
  /** Maximum concurrency: 1 for a hanging host, so that it occupies few of the shared slots. */
  limit: number;
  readonly waiting: ((release: ReleaseSlot) => void)[];
}

/** Maximum number of idle hosts whose reduced limit is remembered. */
const maxRemembered = 10_000;

/**
 * Limits concurrent deliveries per host and in total. Waiting deliveries to one host do not block other hosts; hosts are
 * served round-robin.
 */
export class HostLimiter {
  readonly #perHost: number;
  readonly #maxInFlight: number;
  #inFlight = 0;
  #hosts = new Map<string, HostSlots>();
  /** Hosts below their own limit that wait for a shared slot. */
  #ready = new Set<HostSlots>();

  constructor(perHost: number, maxInFlight: number) {
    this.#perHost = Math.max(1, perHost);
    this.#maxInFlight = Math.max(1, maxInFlight);
  }

  /** Waits for a slot, which the caller must release. */
  acquire(host: string): Promise<ReleaseSlot> {
    let slots = this.#hosts.get(host);
    if (!slots) {
      slots = { host, running: 0, limit: this.#perHost, waiting: [] };
      this.#hosts.set(host, slots);
    }
    const { waiting } = slots;
    const acquired = new Promise<ReleaseSlot>((resolve) => waiting.push(resolve));
    if (slots.running < slots.limit) this.#ready.add(slots);
    this.#grant();
    return acquired;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  #grant(): void {
    for (const slots of this.#ready) {
      if (this.#inFlight >= this.#maxInFlight) return;
      this.#ready.delete(slots);
      const next = slots.waiting.shift();
      if (!next) continue;
      this.#inFlight++;
      slots.running++;
      // Added at the end of the set: round-robin.
      if (slots.waiting.length > 0 && slots.running < slots.limit) this.#ready.add(slots);
      let isHeld = true;
      next((isHanging) => {
        if (isHeld) this.#release(slots, isHanging);
        isHeld = false;
      });
    }
  }

  #release(slots: HostSlots, isHanging: boolean): void {
    this.#inFlight--;
    slots.running--;
    slots.limit = isHanging ? 1 : Math.min(this.#perHost, slots.limit * 2);
    if (slots.waiting.length > 0) {
      if (slots.running < slots.limit) this.#ready.add(slots);
    } else if (slots.running === 0) this.#removeIdle(slots);
    this.#grant();
  }

  #removeIdle(slots: HostSlots): void {
    this.#hosts.delete(slots.host);
    if (slots.limit === this.#perHost) return;
    this.#hosts.set(slots.host, slots);
    if (this.#hosts.size <= maxRemembered) return;
    for (const [host, oldest] of this.#hosts) {
      if (oldest.running > 0 || oldest.waiting.length > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}
