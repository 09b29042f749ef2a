import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { A2AError } from '../../protocol/errors.ts';
import { injectTraceHeaders } from '../../tracing/tracing.ts';
import { parseRetryAfter } from './backoff.ts';
import type { Notification } from './notification.ts';
import type { AttemptOutcome } from '../push-options.ts';
import type { PushSigner } from './signer.ts';

/** What became of one attempt. */
type Attempt =
  | { kind: 'delivered' }
  /** The webhook says that it will never be there again. */
  | { kind: 'gone' }
  | { kind: 'failed'; error: string; isHanging: boolean; isForbidden?: boolean; retryAfter?: number };

/** Sends one letter once. Never rejects. */
export type SendNotification = (letter: Notification, signal: AbortSignal) => Promise<Attempt>;

/** Makes what sends letters, within a policy. */
export function createSender(
  policy: EgressPolicy,
  signer: PushSigner | undefined,
  now: () => number,
  onAttempt: (outcome: AttemptOutcome) => void = () => {},
): SendNotification {
  const attempt = sendOnce(policy, signer, now);
  return async (letter, signal) => {
    const attempted = await attempt(letter, signal);
    onAttempt(outcomeOf(attempted));
    return attempted;
  };
}

function outcomeOf(attempted: Attempt): AttemptOutcome {
  if (attempted.kind === 'delivered') return 'delivered';
  if (attempted.kind === 'gone') return 'dropped';
  return attempted.isForbidden ? 'refused' : 'retried';
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
      const answer = await egressRequest(policy, request);
      if (answer.status >= 200 && answer.status < 300) return { kind: 'delivered' };
      if (answer.status === 410) return { kind: 'gone' };
      return {
        kind: 'failed',
        error: `HTTP ${answer.status}`,
        isHanging: false,
        retryAfter: parseRetryAfter(answer.headers['retry-after'], now()),
      };
    } catch (thrown) {
      const fault = A2AError.from(thrown);
      return {
        kind: 'failed',
        error: errorText(fault),
        isHanging: fault.reason === 'TIMEOUT',
        isForbidden: fault.reason === 'PERMISSION_DENIED',
      };
    }
  };
}

/** Tells the operator what is wrong. The caller who registered the webhook is never shown it. */
function errorText({ message, cause }: A2AError): string {
  if (!(cause instanceof Error)) return message;
  const { code } = cause as { code?: unknown };
  return `${message} (${typeof code === 'string' ? code : cause.message})`.slice(0, 500);
}
