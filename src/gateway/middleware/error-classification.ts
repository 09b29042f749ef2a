import { HttpTransportError } from '../../client/http/http-client.ts';
import { TokenRequestError } from '../../client/token-request.ts';
import type { A2AError } from '../../protocol/errors.ts';

/**
 * Kind of failure of a call to an upstream. `circuit`: rejected by the circuit breaker without a call. `canceled`: the
 * client disconnected, which does not count as a failure.
 */
export type ErrorClass = 'auth' | '4xx' | '5xx' | 'rpc' | 'timeout' | 'connection' | 'circuit' | 'canceled';

/** Returns the kind of a failure. */
export function classifyError(error: A2AError): ErrorClass {
  const { reason, status = 0, details } = error;
  if (reason === 'CANCELED') return 'canceled';
  if (details.circuit !== undefined) return 'circuit';
  // The failure of an authorization server is none of the upstream.
  if (findTokenError(error)) return 'auth';
  if (reason === 'UNAUTHENTICATED' || status === 401 || status === 403) return 'auth';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  if (reason === 'TIMEOUT') return 'timeout';
  return findCause(error, HttpTransportError) ? 'connection' : 'rpc';
}

/** Returns true if the upstream itself failed, not the single request. */
export function isOutage(error: A2AError): boolean {
  const kind = classifyError(error);
  return kind === '5xx' || kind === 'timeout' || kind === 'connection';
}

/** Returns the error of an authorization server, without whose token the upstream was not called. */
export function findTokenError(error: A2AError): TokenRequestError | undefined {
  return findCause(error, TokenRequestError);
}

function findCause<T extends Error>(
  error: A2AError,
  type: abstract new (...args: never[]) => T,
): T | undefined {
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause)
    if (current instanceof type) return current;
  return undefined;
}

/** Returns a short description that does not disclose the URL of the upstream to clients. */
export function shortErrorText(error: A2AError): string {
  const { status } = error;
  switch (classifyError(error)) {
    case 'auth':
      return `credentials rejected (HTTP ${status ?? 401})`;
    case '4xx':
    case '5xx':
      return `HTTP ${status}`;
    case 'timeout':
      return 'request timed out';
    case 'connection': {
      const code = findCause(error, HttpTransportError)?.code;
      return code === undefined ? 'connection closed' : `connection failed (${code})`;
    }
    default:
      return error.message;
  }
}
