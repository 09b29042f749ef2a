import type { TestClock } from '../clock/test-clock.ts';
import type { Random } from '../seeded-random.ts';

/** What faults need. */
export interface FaultTools {
  readonly clock: TestClock;
  readonly random: Random;
  /** Refuses connections for so many milliseconds, or until told otherwise. */
  readonly refuse?: (milliseconds: number | undefined) => void;
}
