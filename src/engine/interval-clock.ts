/** Time, as the engine needs it. Tests bring their own. */
export interface IntervalClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back again and again, without keeping the process alive. @returns what stops it. */
  every(milliseconds: number, tick: () => void): () => void;
}

/** The clock of the machine. */
export const systemIntervalClock: IntervalClock = {
  now: Date.now,
  every(milliseconds, tick) {
    const timer = setInterval(tick, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Writes moments as text. They never go back, whatever the clock does, and one millisecond is written once. */
export function monotonicTimestamps(clock: IntervalClock): () => string {
  let last = Number.NEGATIVE_INFINITY;
  let text = '';
  return () => {
    const now = clock.now();
    if (now > last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
