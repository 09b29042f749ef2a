import type { Clock } from '../../../primitives/clock.ts';
import type { PeerNote } from './control-messages.ts';

/** How long an answer may take, in milliseconds. */
const answerWithin = 2_000;

/** The notes that come for this link, and who waits for one. */
export class PeerNotes {
  readonly #clock: Clock;
  readonly #listeners = new Set<(note: PeerNote) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hear(note: PeerNote): void {
    for (const listen of this.#listeners) listen(note);
  }

  /** Listens for a note, for a while; what did not come in time is undefined. */
  listen(isIt: (note: PeerNote) => boolean): { heard: Promise<PeerNote | undefined>; stop: () => void } {
    let stop = (): void => {};
    const heard = new Promise<PeerNote | undefined>((resolve) => {
      const over = (note?: PeerNote): void => {
        stopTimer();
        this.#listeners.delete(listen);
        resolve(note);
      };
      const listen = (note: PeerNote): void => {
        if (isIt(note)) over(note);
      };
      const stopTimer = this.#clock.after(answerWithin, over);
      stop = over;
      this.#listeners.add(listen);
    });
    return { heard, stop };
  }
}
