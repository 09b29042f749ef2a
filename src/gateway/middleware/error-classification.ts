import { HttpTransportError } from '../../client/http/http-client.ts';
import type { A2AError } from '../../protocol/errors.ts';

/**
 * What kind of failure a call to an upstream ended in. `circuit`: it was not even tried. `canceled`: the caller gave
 * up, which is nobody's failure.
 */
export type ErrorClass = 'auth' | '4xx' | '5xx' | 'rpc' | 'timeout' | 'connection' | 'circuit' | 'canceled';

/** Tells the kind of a failure. */
export function classifyError(error: A2AError): ErrorClass {
  const { reason, status = 0, details } = error;
  if (reason === 'CANCELED') return 'canceled';
  if (details.circuit !== undefined) return 'circuit';
  if (reason === 'UNAUTHENTICATED' || status === 401 || status === 403) return 'auth';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  if (reason === 'TIMEOUT') return 'timeout';
  return failureOf(error) ? 'connection' : 'rpc';
}

/** True when the upstream itself is in trouble, and not what was asked of it. */
export function isOutage(error: A2AError): boolean {
  const kind = classifyError(error);
  return kind === '5xx' || kind === 'timeout' || kind === 'connection';
}

/** The broken connection behind an error, if one is. */
function failureOf(error: A2AError): HttpTransportError | undefined {
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth++, at = at.cause)
    if (at instanceof HttpTransportError) return at;
  return undefined;
}

/** Says in a few words what happened, without the address of the upstream, which is nobody's business. */
export function shortErrorText(error: A2AError): string {
  const { status } = error;
  switch (classifyError(error)) {
    case 'auth':
      return `it refused the credentials (HTTP ${status ?? 401})`;
    case '4xx':
    case '5xx':
      return `it answered HTTP ${status}`;
    case 'timeout':
      return 'it did not answer in time';
    case 'connection': {
      const code = failureOf(error)?.code;
      return code === undefined ? 'the connection broke' : `it cannot be reached (${code})`;
    }
    default:
      return error.message;
  }
}
