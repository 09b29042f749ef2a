import type { GatewayEvent } from './harness-types.ts';

type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** What comes out of one case, in order, until its end. */
export class CaseTimeline {
  readonly events: GatewayEvent[] = [];
  /** Resolves with the first task or error, or when the waiting is over. */
  readonly over: Promise<void>;
  /** When the case began, by the clock of the machine. */
  readonly beganAt = Date.now();
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

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits a while, though not beyond the end. */
  async pause(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([passed, this.over]);
    clearTimeout(timer);
  }

  #finish(): void {
    this.#isOver = true;
    this.#end();
  }
}
