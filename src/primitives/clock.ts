/** Time, as whoever waits for something sees it. Tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something later. What is returned prevents it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** The longest delay that a timer of Node can have; longer ones would end at once. */
const longest = 2 ** 31 - 1;

/** The clock of the machine; what waits for it does not keep the process alive. */
export const unrefClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(longest, milliseconds));
    // In a browser it is a number.
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
