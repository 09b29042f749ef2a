import type { Clock } from '../../../primitives/clock.ts';
import type { PeerMessage } from './control-messages.ts';

/** How long an answer may take, in milliseconds. */
const answerWithin = 2_000;

/** The notes that come for this link, and who waits for one. */
export class PeerMessages {
  readonly #clock: Clock;
  readonly #listeners = new Set<(note: PeerMessage) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hear(note: PeerMessage): void {
    for (const listen of this.#listeners) listen(note);
  }

  /** Listens for a note, for a while; what did not come in time is undefined. */
  listen(isIt: (note: PeerMessage) => boolean): {
    heard: Promise<PeerMessage | undefined>;
    stop: () => void;
  } {
    let stop = (): void => {};
    const heard = new Promise<PeerMessage | undefined>((resolve) => {
      const over = (note?: PeerMessage): void => {
        stopTimer();
        this.#listeners.delete(listen);
        resolve(note);
      };
      const listen = (note: PeerMessage): void => {
        if (isIt(note)) over(note);
      };
      const stopTimer = this.#clock.after(answerWithin, over);
      stop = over;
      this.#listeners.add(listen);
    });
    return { heard, stop };
  }
}
