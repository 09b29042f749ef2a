/**
 * Settles like the promise, or rejects as soon as the signal aborts. The work behind the promise is not stopped.
 *
 * @param toError - creates the error of an abort; `signal.reason` by default.
 */
export function raceAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  toError: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(toError(signal));
    if (signal.aborted) {
      // The rejection of the promise has no other handler.
      promise.catch(() => {});
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
