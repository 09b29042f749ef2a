import type { GatewayEvent } from './rig.ts';

type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** What comes out of one case, in order, until its end. */
export class Timeline {
  readonly events: GatewayEvent[] = [];
  /** Resolves with the first task or error, or when the waiting is over. */
  readonly over: Promise<void>;
  readonly #began = performance.now();
  #end: () => void = () => {};
  #isOver = false;

  constructor(signal: AbortSignal) {
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    if (signal.aborted) this.#finish();
    else signal.addEventListener('abort', () => this.#finish(), { once: true });
  }

  /** Milliseconds since the case began. */
  readonly now = (): number => performance.now() - this.#began;

  /** Notes an event. What comes after the end is not looked at. */
  add(event: Untimed<GatewayEvent>): void {
    if (this.#isOver) return;
    this.events.push({ at: this.now(), ...event });
    if (event.type === 'final_response' || event.type === 'error') this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#end();
  }
}
