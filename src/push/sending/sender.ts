import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TraceContext } from '../../protocol/task.ts';
import { serverAttributes } from '../../tracing/server-attributes.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
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

/** The task of a notification, for tracing. */
interface NotificationOrigin {
  readonly taskId: string;
  /** Number of failed attempts before this one. */
  readonly resends: number;
  /** Returns the trace in which the task was created. */
  readonly trace: () => TraceContext | undefined;
}

/** Sends a notification once. Never rejects. */
export type SendNotification = (
  notification: Notification,
  signal: AbortSignal,
  origin: NotificationOrigin,
) => Promise<Attempt>;

/** Collaborators of a sender. */
interface SenderContext {
  readonly signer?: PushSigner | undefined;
  readonly now: () => number;
  readonly onAttempt?: ((outcome: AttemptOutcome) => void) | undefined;
  readonly tracing: LazyTracing;
}

/** Creates a function that sends notifications within an egress policy. */
export function createSender(policy: EgressPolicy, context: SenderContext): SendNotification {
  return async (notification, signal, origin) => {
    const result = await traceAttempt(context.tracing, notification, origin, (span) =>
      sendOnce(policy, context, notification, signal, span),
    );
    context.onAttempt?.(toOutcome(result));
    return result;
  };
}

/** Runs an attempt in a span, which belongs to the trace of the task. */
async function traceAttempt(
  tracing: LazyTracing,
  { url }: Notification,
  { taskId, resends, trace }: NotificationOrigin,
  attempt: (span: Span | undefined) => Promise<Attempt>,
): Promise<Attempt> {
  if (tracing.pending) await tracing.pending;
  if (!tracing.current) return attempt(undefined);
  const span = tracing.current.start('push notification', {
    kind: 'client',
    root: true,
    from: { ...trace() },
    attributes: {
      'a2a.task.id': taskId,
      'http.request.method': 'POST',
      'http.request.resend_count': resends > 0 ? resends : undefined,
      ...serverAttributes(url),
    },
  });
  const result = await span.run(() => attempt(span));
  span.end(result.kind === 'delivered' ? undefined : toErrorType(result));
  return result;
}

function toErrorType(result: Exclude<Attempt, { kind: 'delivered' }>): string {
  if (result.kind === 'gone') return '410';
  return /^HTTP (\d{3})$/.exec(result.error)?.[1] ?? (result.isHanging ? 'TIMEOUT' : toOutcome(result));
}

function toOutcome(result: Attempt): AttemptOutcome {
  if (result.kind === 'delivered') return 'delivered';
  if (result.kind === 'gone') return 'dropped';
  return result.isForbidden ? 'refused' : 'retried';
}

async function sendOnce(
  policy: EgressPolicy,
  { signer, now, tracing }: SenderContext,
  { id, url, headers, body }: Notification,
  signal: AbortSignal,
  span: Span | undefined,
): Promise<Attempt> {
  try {
    const signed =
      signer && headers['authorization'] === undefined
        ? { ...headers, authorization: `Bearer ${await signer.sign({ id, url, body, at: now() })}` }
        : headers;
    const traced = tracing.current?.inject(signed) ?? signed;
    const request = { method: 'POST', url, headers: traced, body, signal, purpose: 'webhook' } as const;
    const response = await egressRequest(policy, request);
    span?.set({ 'http.response.status_code': response.status });
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
}

/** Formats an error for the operator. It is never sent to the client that registered the webhook. */
function formatError({ message, cause }: A2AError): string {
  if (!(cause instanceof Error)) return message;
  const { code } = cause as { code?: unknown };
  return `${message} (${typeof code === 'string' ? code : cause.message})`.slice(0, 500);
}
