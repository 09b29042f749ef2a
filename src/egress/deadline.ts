import { A2AError } from '../protocol/errors.ts';

/** A signal that fires when time is up or when another does; its reason is the error to throw. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** To be called when all is over. */
  clear(): void;
}

/** Starts a deadline. */
export function startDeadline(milliseconds: number, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const cancel = (): void => {
    controller.abort(new A2AError('CANCELED', 'The request was given up', { cause: signal?.reason }));
  };
  const timer = setTimeout(() => {
    const hint = 'Raise `timeout` if such answers may take longer.';
    controller.abort(new A2AError('TIMEOUT', `No whole answer within ${milliseconds} ms`, { hint }));
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
