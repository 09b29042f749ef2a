import { A2AError, errorTable, type ErrorReason } from '../../protocol/errors.ts';

/** Request in which an error occurred. */
export interface MeshErrorContext {
  /** Name of the agent on the mesh. */
  readonly agent: string;
  readonly taskId: string;
  readonly isStream: boolean;
  /** True if the agent had sent events before. */
  readonly hasStarted: boolean;
}

/** Reasons that have the same meaning for the client on the mesh. */
const forwardedReasons: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'INVALID_PARAMS',
  'INTERNAL_ERROR',
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_AGENT_RESPONSE',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
]);

/** Marks errors of {@link disconnectedError} in `details`, so that a chain of proxies does not wrap them again. */
const disconnectedMarker = { disconnected: 'true' };

/** Creates the error for an agent that disconnected before the task ended. */
export function disconnectedError(agent: string, cause = 'Agent may have crashed.'): A2AError {
  return new A2AError(
    'UNAVAILABLE',
    `Remote agent '${agent}' disconnected without completing the task. ${cause}`,
    { details: disconnectedMarker },
  );
}

/** Converts an error of the agent to an error for the client on the mesh. */
export function explainAgentError(
  thrown: unknown,
  { agent, taskId, isStream, hasStarted }: MeshErrorContext,
): A2AError {
  const error = A2AError.from(thrown);
  const { status } = error;
  let { reason, message, details } = error;
  if (status !== undefined && !isProtocolError(error)) {
    reason = 'INTERNAL_ERROR';
    message = isStream
      ? `The agent '${agent}' endpoint did not return a valid SSE streaming response (HTTP ${status}): ${message}`
      : `The agent '${agent}' did not return a valid response (HTTP ${status}): ${message}`;
  } else if (
    reason === 'UNAVAILABLE' &&
    isStream &&
    !('disconnected' in details) &&
    (hasStarted || !isUnreachable(error))
  ) {
    ({ message } = disconnectedError(agent, message));
    details = { ...details, ...disconnectedMarker };
  } else if (status !== undefined && status >= 400) {
    message = `${message} (HTTP ${status})`;
  }
  // Rejected credentials of the proxy are not an error of the client.
  if (!forwardedReasons.has(reason) && errorTable[reason].rpc !== errorTable.INTERNAL_ERROR.rpc)
    reason = 'INTERNAL_ERROR';
  return new A2AError(reason, message, {
    cause: error,
    violations: error.violations,
    details: { ...details, taskId, agent_name: agent },
    status,
    hint: error.hint,
  });
}

/** Returns true if the agent responded with the error; otherwise an intermediary did. */
function isProtocolError({ cause }: A2AError): boolean {
  return typeof cause === 'object' && cause !== null && !(cause instanceof Error);
}

/** Returns true if there was no connection at all. */
function isUnreachable({ cause }: A2AError): boolean {
  return cause instanceof Error && !(cause instanceof A2AError);
}
