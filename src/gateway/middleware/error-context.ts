import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { Agent } from '../../protocol/agent.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { classifyError, shortErrorText } from './error-classification.ts';
import { observeCalls } from './observe-calls.ts';

/**
 * Middleware that replaces the URL of an upstream in errors by the name of the agent. If an upstream rejects the gateway's credentials,
 * the client gets `INTERNAL_ERROR`, because it cannot provide better ones.
 *
 * @param forwardsAuthorization - the upstream checks the credentials of the client.
 */
export function withErrorContext<A extends Agent>(agent: A, name: string, forwardsAuthorization = false): A {
  const observer = {
    onEnd: (error: A2AError | undefined) => error && toClientError(error, name, forwardsAuthorization),
  };
  return withInterceptor(
    agent,
    observeCalls(() => observer),
  );
}

/** Returns undefined if the agent sent an A2A error of its own, which is passed on unchanged. */
function toClientError(error: A2AError, name: string, forwardsAuthorization: boolean): A2AError | undefined {
  const kind = classifyError(error);
  switch (kind) {
    case 'timeout':
    case 'connection':
      return withAgentName(error, name, error.reason);
    case 'auth':
    case '4xx':
    case '5xx':
      if (kind === 'auth' && error.reason === 'UNAUTHENTICATED' && !forwardsAuthorization)
        return withAgentName(error, name, 'INTERNAL_ERROR');
      return 'unexpectedResponse' in error.details ? withAgentName(error, name, error.reason) : undefined;
    case 'rpc':
      if (error.reason !== 'INVALID_AGENT_RESPONSE') return undefined;
      return withAgentName(
        error,
        name,
        error.reason,
        error.message.replaceAll(/https?:\/\/[^\s,;]*[^\s,;:.]/g, name),
      );
    default:
      return undefined;
  }
}

function withAgentName(
  error: A2AError,
  name: string,
  reason: ErrorReason,
  text = shortErrorText(error),
): A2AError {
  const { violations, status, hint } = error;
  const { unexpectedResponse: _marker, ...details } = error.details;
  return new A2AError(reason, `The agent ${name} failed: ${text}`, {
    cause: error,
    violations,
    details: { ...details, agent: name },
    status,
    hint,
  });
}
