import { systemClock as clientClock, sleep } from '../../client/abortable-sleep.ts';
import { systemClock as engineClock } from '../../primitives/clock.ts';

/** Time, as a test agent and everything in it sees it: the engine, the deliveries and a client may have the same. */
export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something later. @returns what prevents it. */
  after(milliseconds: number, run: () => void): () => void;
  /** Calls back again and again, as long as there is something else to wait for. @returns what stops it. */
  every(milliseconds: number, tick: () => void): () => void;
  /** Waits; rejects with `CANCELED` when the signal ends the wait. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemTestClock: TestClock = {
  ...clientClock,
  ...engineClock,
  sleep: (milliseconds, signal) => sleep(clientClock, milliseconds, signal),
};
