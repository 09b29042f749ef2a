import { TokenRequestError } from '../../client/token-request.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { Agent } from '../../protocol/agent.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { AuthError, buildChallenge } from '../../server/auth/auth-error.ts';
import { classifyError, shortErrorText } from './error-classification.ts';
import { observeCalls } from './observe-calls.ts';

/** Options of {@link withErrorContext}. */
export interface ErrorContextOptions {
  /** Name of the agent. */
  readonly name: string;
  /** The upstream checks the credentials of the client. */
  readonly forwardsAuthorization?: boolean;
  /** Called with a message for operators if an authorization server is unavailable. */
  readonly onWarning?: (message: string, error: A2AError) => void;
}

/**
 * Middleware that replaces the URL of an upstream in errors by the name of the agent. If an upstream rejects the gateway's credentials,
 * the client gets `INTERNAL_ERROR`, because it cannot provide better ones. If its own token is rejected, it gets
 * `UNAUTHENTICATED`.
 */
export function withErrorContext<A extends Agent>(agent: A, options: ErrorContextOptions): A {
  const observer = { onEnd: (error: A2AError | undefined) => error && toClientError(error, options) };
  return withInterceptor(
    agent,
    observeCalls(() => observer),
  );
}

/** Returns undefined if the agent sent an A2A error of its own, which is passed on unchanged. */
function toClientError(error: A2AError, options: ErrorContextOptions): A2AError | undefined {
  const { name, forwardsAuthorization = false } = options;
  if (error instanceof TokenRequestError) return tokenError(error, options);
  const kind = classifyError(error);
  switch (kind) {
    case 'timeout':
    case 'connection':
      return withAgentName(error, name, error.reason);
    case 'auth':
    case '4xx':
    case '5xx':
      if (kind === 'auth' && error.reason === 'UNAUTHENTICATED')
        return forwardsAuthorization
          ? rejectedToken(error, name)
          : withAgentName(error, name, 'INTERNAL_ERROR');
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

/** Seconds after which a client may retry if an unavailable authorization server does not tell. */
const defaultRetryAfter = 5;

/** Longest time that an authorization server can ask clients of the gateway to wait, in seconds. */
const maxRetryAfter = 300;

/** Creates the error of a client for whose call an authorization server issued no token. */
function tokenError(error: TokenRequestError, { name, onWarning }: ErrorContextOptions): A2AError {
  switch (error.problem) {
    case 'subject':
      return rejectedToken(error, name);
    case 'access':
      return new A2AError('PERMISSION_DENIED', `You have no access to the agent ${name}`, {
        cause: error,
        details: { agent: name },
      });
    case 'unavailable': {
      onWarning?.(`${name}: the authorization server is unavailable`, error);
      const asked = error.retryAfter === undefined ? defaultRetryAfter : Math.ceil(error.retryAfter / 1000);
      const seconds = Math.min(maxRetryAfter, Math.max(1, asked));
      return new A2AError('UNAVAILABLE', `The authorization server of the agent ${name} is unavailable`, {
        cause: error,
        details: { agent: name, retryAfter: String(seconds) },
        hint: `Retry in ${seconds} s.`,
      });
    }
    case 'client':
      return withAgentName(error, name, 'INTERNAL_ERROR', 'the gateway got no token for it');
  }
}

/** Creates the error of a client whose own credentials were rejected. The text of the server that rejected it is not passed on. */
function rejectedToken(error: A2AError, name: string): A2AError {
  const challenge = buildChallenge({ type: 'http', scheme: 'bearer' }, name, { error: 'invalid_token' });
  return new AuthError('UNAUTHENTICATED', [challenge], `The agent ${name} rejected your credentials`, {
    cause: error,
    details: { agent: name },
    ...(error.status !== undefined && { status: error.status }),
  });
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
