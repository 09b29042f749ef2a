/** Time, as deliveries see it. Tests bring their own. */
export interface PushClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something later, without keeping the process alive. What is returned prevents it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The longest delay that a timer of Node can have; longer ones would end at once. */
const longest = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: PushClock = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(longest, milliseconds));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
