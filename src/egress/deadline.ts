import { A2AError } from '../protocol/errors.ts';

/** A signal that aborts after a timeout or with another signal; its reason is the error to throw. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Stops the timer and the observation of the other signal. */
  clear(): void;
}

/** Starts a deadline. */
export function startDeadline(milliseconds: number, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const cancel = (): void => {
    controller.abort(new A2AError('CANCELED', 'Request canceled', { cause: signal?.reason }));
  };
  const timer = setTimeout(() => {
    const hint = 'Raise `timeout` if such answers may take longer.';
    controller.abort(new A2AError('TIMEOUT', `No complete response within ${milliseconds} ms`, { hint }));
  }, milliseconds);
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel);
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
}
