import type { Clock } from '../../client/clock.ts';

/**
 * Passes on news of a call, not more often than is of use: the first at once, and then the newest of each while.
 */
export class ProgressNotes {
  readonly #send: (text: string) => void;
  readonly #clock: Clock;
  readonly #interval: number;
  #pending: string | undefined;
  #stop: (() => void) | undefined;

  constructor(send: (text: string) => void, clock: Clock, interval: number) {
    this.#send = send;
    this.#clock = clock;
    this.#interval = interval;
  }

  /** Takes news in. */
  tell(text: string): void {
    if (this.#stop) {
      this.#pending = text;
      return;
    }
    this.#send(text);
    this.#stop = this.#clock.after(this.#interval, () => {
      this.#stop = undefined;
      this.#flush();
    });
  }

  /** Passes on what waits; nothing comes after that. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
    const text = this.#pending;
    this.#pending = undefined;
    if (text !== undefined) this.#send(text);
  }

  #flush(): void {
    const text = this.#pending;
    if (text === undefined) return;
    this.#pending = undefined;
    this.tell(text);
  }
}
