import { type Clock, systemClock } from '../client/clock.ts';

/** The clock of the machine; what waits for it does not keep the process alive. */
export const idleClock: Clock = {
  now: () => systemClock.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
