import type { TestClock } from '../clock/test-clock.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Collaborators of fault injection. */
export interface FaultContext {
  readonly clock: TestClock;
  readonly random: SeededRandom;
  /** Closes the port for a number of milliseconds, or until the outage is ended. */
  readonly startOutage?: (milliseconds: number | undefined) => void;
}
