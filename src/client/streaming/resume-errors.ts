import { A2AError } from '../../protocol/errors.ts';

/** Error of a stream that ended before its task. */
export function earlyEndError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The stream ended before the task did', {
    hint: 'The agent or a proxy closed the connection early.',
  });
}

/** Error of a stream that could not be resumed. */
export function resumeFailedError(cause: A2AError, attempts: number): A2AError {
  return new A2AError(
    'UNAVAILABLE',
    `The stream was interrupted and could not be resumed in ${attempts} attempts`,
    { cause, hint: cause.hint ?? 'The task may still be running: fetch it with getTask.' },
  );
}
