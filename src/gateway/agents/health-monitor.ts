import { type Clock, systemClock } from '../../client/abortable-sleep.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Upstream } from './upstream.ts';

/** How an upstream is looked after. */
export interface HealthMonitorOptions {
  /** Milliseconds between two looks at an upstream that is well. 0 looks once. @defaultValue 60 000 */
  interval?: number;
  /** Milliseconds until the first look after a failure; each further is twice as late, up to the interval. @defaultValue 1000 */
  retryAfter?: number;
  clock?: Clock;
  /** Gives numbers from 0 to 1, so that many do not look at once. */
  random?: () => number;
  /** Told after each look. */
  onCheck?: (error: A2AError | undefined) => void;
}

/** Looks after an upstream, until it is told to stop. */
export interface HealthMonitor {
  /** The first look is over, whatever it found. */
  readonly firstCheck: Promise<void>;
  stop(): void;
}

/** Fetches the card of an upstream again and again, more often while it cannot be had. */
export function monitorHealth(
  upstream: Pick<Upstream, 'check'>,
  options: HealthMonitorOptions = {},
): HealthMonitor {
  const { interval = 60_000, retryAfter = 1000, clock = systemClock, random = Math.random } = options;
  const end = new AbortController();
  let cancel: (() => void) | undefined;
  let failures = 0;

  async function look(): Promise<void> {
    let error: A2AError | undefined;
    try {
      await upstream.check(end.signal);
      failures = 0;
    } catch (thrown) {
      error = A2AError.from(thrown);
      failures++;
    }
    if (end.signal.aborted) return;
    options.onCheck?.(error);
    if (interval <= 0) return;
    const delay = error ? Math.min(interval, retryAfter * 2 ** (failures - 1)) : interval;
    cancel = clock.after(delay * (0.9 + random() * 0.1), () => void look());
  }

  return {
    firstCheck: look(),
    stop() {
      end.abort();
      cancel?.();
    },
  };
}
