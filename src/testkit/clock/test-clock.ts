import { type Clock, sleep, systemClock } from '../../primitives/clock.ts';
import { canceledError } from '../../protocol/errors.ts';

/** Clock of a test agent. The engine, push delivery and a client can share it. */
export interface TestClock extends Clock {
  /** Resolves after a delay. Rejects with `CANCELED` if the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. */
export const systemTestClock: TestClock = {
  ...systemClock,
  sleep: (milliseconds, signal) => sleepOn(systemClock, milliseconds, signal),
};

/** Resolves after a delay of a clock. Rejects with `CANCELED` if the signal aborts. */
export function sleepOn(
  clock: Pick<Clock, 'after'>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return sleep(clock, milliseconds, signal, canceledError);
}
