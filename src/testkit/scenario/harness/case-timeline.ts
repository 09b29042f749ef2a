import type { GatewayEvent } from './harness-types.ts';

type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** Records the gateway events of one case until its end. */
export class CaseTimeline {
  readonly events: GatewayEvent[] = [];
  /** Resolves with the first final response or error, or when the signal aborts. */
  readonly ended: Promise<void>;
  /** Start of the case by the system clock. */
  readonly startedAt = Date.now();
  readonly #start = performance.now();
  #resolveEnded: () => void = () => {};
  #isEnded = false;

  constructor(signal: AbortSignal) {
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    if (signal.aborted) this.#finish();
    else signal.addEventListener('abort', () => this.#finish(), { once: true });
  }

  /** Returns the milliseconds since the start of the case. */
  readonly now = (): number => performance.now() - this.#start;

  /** Records an event. Events after the end are ignored. */
  add(event: Untimed<GatewayEvent>): void {
    if (this.#isEnded) return;
    this.events.push({ at: this.now(), ...event });
    if (event.type === 'final_response' || event.type === 'error') this.#finish();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Waits, but not beyond the end of the case. */
  async sleep(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([elapsed, this.ended]);
    clearTimeout(timer);
  }

  #finish(): void {
    this.#isEnded = true;
    this.#resolveEnded();
  }
}
