import { backoffDelay } from '../../primitives/backoff.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Upstream } from './upstream.ts';

/** Options of {@link monitorHealth}. */
export interface HealthMonitorOptions {
  /** Milliseconds between two health checks of a healthy upstream. 0 checks once. @defaultValue 60 000 */
  interval?: number;
  /** Milliseconds until the first check after a failure; doubles with each failure, up to `interval`. @defaultValue 1000 */
  retryAfter?: number;
  clock?: Clock;
  /** Returns numbers from 0 to 1 for the jitter, which spreads the checks of many upstreams. */
  random?: () => number;
  /** Called after each check. */
  onCheck?: (error: A2AError | undefined) => void;
}

/** Running health checks of one upstream. */
export interface HealthMonitor {
  /** Resolves when the first check has finished, successfully or not. */
  readonly firstCheck: Promise<void>;
  stop(): void;
}

/** Checks the health of an upstream periodically by fetching its card, and more often while it fails. */
export function monitorHealth(
  upstream: Pick<Upstream, 'check'>,
  options: HealthMonitorOptions = {},
): HealthMonitor {
  const { interval = 60_000, retryAfter = 1000, clock = systemClock, random = Math.random } = options;
  const stopped = new AbortController();
  let cancel: (() => void) | undefined;
  let failures = 0;

  async function check(): Promise<void> {
    let error: A2AError | undefined;
    try {
      await upstream.check(stopped.signal);
      failures = 0;
    } catch (thrown) {
      error = A2AError.from(thrown);
      failures++;
    }
    if (stopped.signal.aborted) return;
    options.onCheck?.(error);
    if (interval <= 0) return;
    const delay = error
      ? backoffDelay(failures - 1, { minDelay: retryAfter, maxDelay: interval, jitter: 'none' })
      : interval;
    cancel = clock.after(delay * (0.9 + random() * 0.1), () => void check());
  }

  return {
    firstCheck: check(),
    stop() {
      stopped.abort();
      cancel?.();
    },
  };
}
