import { A2AError } from '../protocol/errors.ts';

/** Time, as the client sees it; a test brings its own. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Runs something later. What is returned prevents it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** The error of a call whose caller gave up. */
export function canceled(signal: AbortSignal): A2AError {
  return new A2AError('CANCELED', undefined, { cause: signal.reason });
}

/** Waits, unless the caller gives up meanwhile. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(canceled(signal));
      return;
    }
    const stop = clock.after(milliseconds, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    function onAbort(): void {
      stop();
      if (signal) reject(canceled(signal));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
