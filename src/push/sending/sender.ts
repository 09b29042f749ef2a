import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { A2AError } from '../../protocol/errors.ts';
import { injectTraceHeaders } from '../../tracing/tracing.ts';
import { parseRetryAfter } from '../../primitives/backoff.ts';
import type { Notification } from './notification.ts';
import type { AttemptOutcome } from '../push-options.ts';
import type { PushSigner } from './signer.ts';

/** Result of one attempt. */
type Attempt =
  | { kind: 'delivered' }
  /** The webhook responded 410 Gone. */
  | { kind: 'gone' }
  | { kind: 'failed'; error: string; isHanging: boolean; isForbidden?: boolean; retryAfter?: number };

/** Sends a notification once. Never rejects. */
export type SendNotification = (notification: Notification, signal: AbortSignal) => Promise<Attempt>;

/** Creates a function that sends notifications within an egress policy. */
export function createSender(
  policy: EgressPolicy,
  signer: PushSigner | undefined,
  now: () => number,
  onAttempt: (outcome: AttemptOutcome) => void = () => {},
): SendNotification {
  const attempt = sendOnce(policy, signer, now);
  return async (notification, signal) => {
    const result = await attempt(notification, signal);
    onAttempt(toOutcome(result));
    return result;
  };
}

function toOutcome(result: Attempt): AttemptOutcome {
  if (result.kind === 'delivered') return 'delivered';
  if (result.kind === 'gone') return 'dropped';
  return result.isForbidden ? 'refused' : 'retried';
}

function sendOnce(policy: EgressPolicy, signer: PushSigner | undefined, now: () => number): SendNotification {
  return async ({ id, url, headers, body }, signal) => {
    try {
      const signed =
        signer && headers['authorization'] === undefined
          ? { ...headers, authorization: `Bearer ${await signer.sign({ id, url, body, at: now() })}` }
          : headers;
      const traced = await injectTraceHeaders(signed);
      const request = { method: 'POST', url, headers: traced, body, signal, purpose: 'webhook' } as const;
      const response = await egressRequest(policy, request);
      if (response.status >= 200 && response.status < 300) return { kind: 'delivered' };
      if (response.status === 410) return { kind: 'gone' };
      return {
        kind: 'failed',
        error: `HTTP ${response.status}`,
        isHanging: false,
        retryAfter: parseRetryAfter(response.headers['retry-after'], now()),
      };
    } catch (thrown) {
      const error = A2AError.from(thrown);
      return {
        kind: 'failed',
        error: formatError(error),
        isHanging: error.reason === 'TIMEOUT',
        isForbidden: error.reason === 'PERMISSION_DENIED',
      };
    }
  };
}

/** Formats an error for the operator. It is never sent to the client that registered the webhook. */
function formatError({ message, cause }: A2AError): string {
  if (!(cause instanceof Error)) return message;
  const { code } = cause as { code?: unknown };
  return `${message} (${typeof code === 'string' ? code : cause.message})`.slice(0, 500);
}
