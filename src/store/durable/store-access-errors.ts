import { A2AError } from '../../protocol/errors.ts';

/** The error of all calls after a store was closed. */
export function closedError(): A2AError {
  return new A2AError('UNAVAILABLE', 'The task store is closed');
}

/** The error of changes in a store that was opened to read it beside its agent. */
export function withoutLeaseError(): A2AError {
  const message = 'The task store was opened without a lease and cannot change tasks';
  return new A2AError('UNSUPPORTED_OPERATION', message, { hint: 'Open it without withoutLease: true.' });
}
