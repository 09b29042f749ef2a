import type { Clock } from '../primitives/clock.ts';
import { A2AError } from '../protocol/errors.ts';

export { type Clock, systemClock } from '../primitives/clock.ts';

/** The error of a call whose caller gave up. */
export function abortError(signal: AbortSignal): A2AError {
  return new A2AError('CANCELED', undefined, { cause: signal.reason });
}

/** Waits, unless the caller gives up meanwhile. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError(signal));
      return;
    }
    const stop = clock.after(milliseconds, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    function onAbort(): void {
      stop();
      if (signal) reject(abortError(signal));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
