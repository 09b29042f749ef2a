import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { CallInterceptor } from './interceptors.ts';
import { classifyError, shortErrorText } from './error-classification.ts';

/**
 * Says which agent failed and how, instead of where it is. That an upstream does not take the gateway's credentials is
 * no fault of the caller's, who must not be asked for better ones.
 *
 * @param isCallers - the credentials are those of the caller, passed on.
 */
export function errorContextInterceptor(name: string, isCallers = false): CallInterceptor {
  const course = { ended: (error: A2AError | undefined) => error && named(error, name, isCallers) };
  return { begin: () => course };
}

/** The error in the words of the gateway; undefined where those of the agent say more. */
function named(error: A2AError, name: string, isCallers: boolean): A2AError | undefined {
  const kind = classifyError(error);
  switch (kind) {
    case 'timeout':
    case 'connection':
      return renamed(error, name, error.reason);
    case 'auth':
    case '4xx':
    case '5xx':
      if (kind === 'auth' && error.reason === 'UNAUTHENTICATED' && !isCallers)
        return renamed(error, name, 'INTERNAL_ERROR');
      // The client of this package says so where an answer has no words of its own.
      return /^https?:\S+ answered/.test(error.message) ? renamed(error, name, error.reason) : undefined;
    case 'rpc':
      if (error.reason !== 'INVALID_AGENT_RESPONSE') return undefined;
      return renamed(error, name, error.reason, error.message.replaceAll(/https?:\/\/[^\s,;]+/g, name));
    default:
      return undefined;
  }
}

function renamed(error: A2AError, name: string, reason: ErrorReason, said = shortErrorText(error)): A2AError {
  const { violations, details, status, hint } = error;
  return new A2AError(reason, `The agent ${name} failed: ${said}`, {
    cause: error,
    violations,
    details: { ...details, agent: name },
    status,
    hint,
  });
}
