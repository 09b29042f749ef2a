import { A2AError, errorTable, type ErrorReason } from '../../protocol/errors.ts';

/** Where something went wrong. */
export interface MeshErrorContext {
  /** The agent, as the mesh knows it. */
  readonly agent: string;
  readonly taskId: string;
  readonly isStream: boolean;
  /** True when the agent had begun to speak. */
  readonly hasBegun: boolean;
}

/** Reasons that are of the protocol, and mean the same to whoever asked the proxy. */
const passedOn: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
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

/** The agent went away in the middle of a task. */
export function disconnectedError(agent: string, why = 'Agent may have crashed.'): A2AError {
  return new A2AError(
    'UNAVAILABLE',
    `Remote agent '${agent}' disconnected without completing the task. ${why}`,
  );
}

/** Puts an error of the agent into words for whoever asked on the mesh. */
export function explainAgentError(
  thrown: unknown,
  { agent, taskId, isStream, hasBegun }: MeshErrorContext,
): A2AError {
  const error = A2AError.from(thrown);
  const { status, reason } = error;
  let [said, message]: [ErrorReason, string] = [reason, error.message];
  if (status !== undefined && !isOfProtocol(error)) {
    said = 'INTERNAL_ERROR';
    message = isStream
      ? `The agent '${agent}' endpoint did not return a valid SSE streaming response (HTTP ${status}): ${message}`
      : `The agent '${agent}' did not return a valid response (HTTP ${status}): ${message}`;
  } else if (
    reason === 'UNAVAILABLE' &&
    isStream &&
    !message.startsWith('Remote agent') &&
    (hasBegun || !isUnreachable(error))
  ) {
    message = disconnectedError(agent, message).message;
  } else if (status !== undefined && status >= 400) {
    message = `${message} (HTTP ${status})`;
  }
  // A credential of the proxy that is refused is no mistake of the caller.
  if (!passedOn.has(said) && errorTable[said].rpc !== errorTable.INTERNAL_ERROR.rpc) said = 'INTERNAL_ERROR';
  return new A2AError(said, message, {
    cause: error,
    violations: error.violations,
    details: { ...error.details, taskId, agent_name: agent },
    status,
    hint: error.hint,
  });
}

/** True when the agent itself answered with an error; otherwise something on the way did. */
function isOfProtocol({ cause }: A2AError): boolean {
  return typeof cause === 'object' && cause !== null && !(cause instanceof Error);
}

/** True when there was no connection at all. */
function isUnreachable({ cause }: A2AError): boolean {
  return cause instanceof Error && !(cause instanceof A2AError);
}
