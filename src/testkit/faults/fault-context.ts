import type { TestClock } from '../clock/test-clock.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** What faults need. */
export interface FaultContext {
  readonly clock: TestClock;
  readonly random: SeededRandom;
  /** Refuses connections for so many milliseconds, or until told otherwise. */
  readonly refuse?: (milliseconds: number | undefined) => void;
}
