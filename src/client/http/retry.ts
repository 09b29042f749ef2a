import type { Operation } from '../../protocol/agent.ts';
import { backoffDelay, type BackoffOptions, parseRetryAfter } from '../../primitives/backoff.ts';
import type { HttpTransportError } from './http-client.ts';

/** Exponential backoff between retries and between attempts to resume a stream. */
export const retryBackoff: BackoffOptions = { minDelay: 200, maxDelay: 10_000, jitter: 'full' };

/** Maximum accepted `Retry-After`, in milliseconds. */
const maxRetryAfter = 30_000;

const idempotentOperations: ReadonlySet<Operation | 'card'> = new Set<Operation | 'card'>([
  'card',
  'extendedCard',
  'getTask',
  'listTasks',
  'getPushConfig',
  'listPushConfigs',
  'subscribe',
]);

/** What decides whether a request may be repeated. */
export interface RetryableRequest {
  readonly operation: Operation | 'card';
  /** True if the agent recognizes a repetition of the request. */
  readonly isRepeatable?: boolean;
}

function isIdempotent({ operation, isRepeatable = false }: RetryableRequest): boolean {
  return isRepeatable || idempotentOperations.has(operation);
}

/** Returns true if a request without a response may be retried: it is idempotent, or it was not sent. */
export function isSafeToRetry(request: RetryableRequest, error: HttpTransportError): boolean {
  if (isPermanent(error.code) || isConnectTimeout(error)) return false;
  return isIdempotent(request) || !error.sent;
}

/** The system has repeated the attempt to connect for seconds: another endpoint is tried instead. */
function isConnectTimeout({ code, sent }: HttpTransportError): boolean {
  return !sent && (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT');
}

/** A retry does not make a certificate valid, and teaches no server HTTP/2. */
function isPermanent(code: string | undefined): boolean {
  return (
    code !== undefined && (/CERT|SSL|TLS|^UNABLE_TO_|^HTTP2_NOT/.test(code) || code === 'ERR_INVALID_URL')
  );
}

/** Response that may be retried. */
export interface RetryCandidate {
  readonly status: number;
  header(name: string): string | undefined;
}

/**
 * Returns the delay before a retry, in milliseconds.
 *
 * @returns undefined if the request must not be retried: the status is final, `Retry-After` exceeds 30 seconds, or the
 * request may have been processed and is not idempotent.
 */
export function retryDelay(
  request: RetryableRequest,
  response: RetryCandidate,
  context: { attempt: number; now: number; random: () => number },
): number | undefined {
  const { status } = response;
  const retryAfter = parseRetryAfter(response.header('retry-after'), context.now);
  if (retryAfter !== undefined && retryAfter > maxRetryAfter) return undefined;
  const isRetried = isIdempotent(request);
  if (status === 429 || status === 503) {
    if (retryAfter !== undefined) return retryAfter;
    return isRetried ? backoffDelay(context.attempt, retryBackoff, context.random) : undefined;
  }
  // 408: the server closed a connection on which it waited for a request while this one was on its way.
  if ((status === 408 || status === 502 || status === 504) && isRetried)
    return retryAfter ?? backoffDelay(context.attempt, retryBackoff, context.random);
  return undefined;
}
