import { HttpTransportError } from '../../client/http/http-client.ts';
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
  if (reason === 'UNAUTHENTICATED' || status === 401 || status === 403) return 'auth';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  if (reason === 'TIMEOUT') return 'timeout';
  return findTransportError(error) ? 'connection' : 'rpc';
}

/** Returns true if the upstream itself failed, not the single request. */
export function isOutage(error: A2AError): boolean {
  const kind = classifyError(error);
  return kind === '5xx' || kind === 'timeout' || kind === 'connection';
}

function findTransportError(error: A2AError): HttpTransportError | undefined {
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause)
    if (current instanceof HttpTransportError) return current;
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
      const code = findTransportError(error)?.code;
      return code === undefined ? 'connection closed' : `connection failed (${code})`;
    }
    default:
      return error.message;
  }
}
