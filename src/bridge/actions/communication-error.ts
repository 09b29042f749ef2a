import { A2AError, type ErrorReason } from '../../protocol/errors.ts';

/** Errors of calls to which the agent gave no usable response. */
const reasons: ReadonlySet<ErrorReason> = new Set([
  'UNAVAILABLE',
  'TIMEOUT',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'INVALID_AGENT_RESPONSE',
]);

/** Marks the message of a communication error. Errors that the agent itself returned stay unchanged. */
export function communicationError(error: A2AError): A2AError {
  if (!reasons.has(error.reason)) return error;
  const { reason, message, hint, status, details } = error;
  const options = { cause: error, details, hint, status };
  return new A2AError(reason, `Failed to communicate with A2A agent: ${message}`, options);
}
