/** Makes room again. `isHanging` says that the host took all the time there was. */
export type ReleaseSlot = (isHanging: boolean) => void;

interface HostSlots {
  readonly host: string;
  running: number;
  /** How many may run: one for a host that hangs, so that it holds few of the places that all share. */
  limit: number;
  readonly waiting: ((leave: ReleaseSlot) => void)[];
}

/** How many hosts that hang are remembered while nothing is on its way to them. */
const maxRemembered = 10_000;

/**
 * Bounds what is on its way at once, to each host and altogether. Those who wait for one host are in nobody else's
 * way, and hosts take turns.
 */
export class HostLimiter {
  readonly #perHost: number;
  readonly #most: number;
  #inFlight = 0;
  #lanes = new Map<string, HostSlots>();
  /** The lanes in which somebody waits for nothing but a place among all. */
  #ready = new Set<HostSlots>();

  constructor(perHost: number, most: number) {
    this.#perHost = Math.max(1, perHost);
    this.#most = Math.max(1, most);
  }

  /** Waits for a place on the way to a host. Whoever gets it must leave. */
  acquire(host: string): Promise<ReleaseSlot> {
    let lane = this.#lanes.get(host);
    if (!lane) {
      lane = { host, running: 0, limit: this.#perHost, waiting: [] };
      this.#lanes.set(host, lane);
    }
    const { waiting } = lane;
    const entered = new Promise<ReleaseSlot>((resolve) => waiting.push(resolve));
    if (lane.running < lane.limit) this.#ready.add(lane);
    this.#admit();
    return entered;
  }

  /** How many are on their way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  #admit(): void {
    for (const lane of this.#ready) {
      if (this.#inFlight >= this.#most) return;
      this.#ready.delete(lane);
      const next = lane.waiting.shift();
      if (!next) continue;
      this.#inFlight++;
      lane.running++;
      // Behind the others, which this loop comes to first.
      if (lane.waiting.length > 0 && lane.running < lane.limit) this.#ready.add(lane);
      let isIn = true;
      next((isHanging) => {
        if (isIn) this.#leave(lane, isHanging);
        isIn = false;
      });
    }
  }

  #leave(lane: HostSlots, isHanging: boolean): void {
    this.#inFlight--;
    lane.running--;
    lane.limit = isHanging ? 1 : Math.min(this.#perHost, lane.limit * 2);
    if (lane.waiting.length > 0) {
      if (lane.running < lane.limit) this.#ready.add(lane);
    } else if (lane.running === 0) this.#retire(lane);
    this.#admit();
  }

  #retire(lane: HostSlots): void {
    this.#lanes.delete(lane.host);
    if (lane.limit === this.#perHost) return;
    this.#lanes.set(lane.host, lane);
    if (this.#lanes.size <= maxRemembered) return;
    for (const [host, oldest] of this.#lanes) {
      if (oldest.running > 0 || oldest.waiting.length > 0) continue;
      this.#lanes.delete(host);
      return;
    }
  }
}
