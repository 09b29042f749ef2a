/** Source of the current time and of timers. Replaceable in tests. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since 1970. It can jump, so it must not be used to measure durations. */
  now(): number;
  /** Returns milliseconds since an arbitrary moment. Never decreases and does not jump: measures durations. */
  monotonic(): number;
  /** Runs a function once after a delay. @returns a function that cancels it */
  after(milliseconds: number, run: () => void): () => void;
  /** Runs a function periodically, without keeping the process alive. @returns a function that stops it */
  every(milliseconds: number, tick: () => void): () => void;
}

/** Lets the process end although a timer is active, in runtimes with processes; others return a number. */
export function unrefTimer(timer: { unref?: () => unknown } | number): void {
  if (typeof timer === 'object') timer.unref?.();
}

/** The longest delay of a timer in Node.js; longer ones fire immediately. */
const maxTimerDelay = 2 ** 31 - 1;

/** The system clock. Its `after` timers keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  every(milliseconds, tick) {
    const timer = setInterval(tick, milliseconds);
    unrefTimer(timer);
    return () => clearInterval(timer);
  },
};

/** The system clock with `after` timers that do not keep the process alive. */
export const unrefClock: Clock = {
  ...systemClock,
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(maxTimerDelay, milliseconds));
    unrefTimer(timer);
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after a delay.
 *
 * @param toError - creates the error of an aborted sleep; `signal.reason` by default.
 */
export function sleep(
  clock: Pick<Clock, 'after'>,
  milliseconds: number,
  signal?: AbortSignal,
  toError: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(toError(signal));
      return;
    }
    const cancel = clock.after(milliseconds, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    function onAbort(): void {
      cancel();
      if (signal) reject(toError(signal));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Cloudflare Workers bind timers and other I/O to the request that creates them. */
const hasRequestTimers =
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent === 'Cloudflare-Workers';

/** Runs a function at the end of the current event-loop turn, or as soon as possible in runtimes that cannot do that. */
export const atEndOfTurn: (callback: () => void) => unknown = hasRequestTimers
  ? (callback) => queueMicrotask(callback)
  : typeof setImmediate === 'function'
    ? setImmediate
    : (callback) => setTimeout(callback, 0);

/**
 * Waits for a result that another request may produce. A worker cancels a request that waits without a timer or other
 * I/O of its own.
 */
export async function whileAlive<T>(pending: Promise<T>): Promise<T> {
  if (!hasRequestTimers) return pending;
  const timer = setInterval(() => {}, 10_000);
  try {
    return await pending;
  } finally {
    clearInterval(timer);
  }
}

/** Resolves in a later event-loop turn, so that other work can be done first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void atEndOfTurn(resolve));
}
