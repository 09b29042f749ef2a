import type { EgressOptions } from '../egress/egress-options.ts';
import type { Clock } from '../primitives/clock.ts';
import type { PushSigner } from './sending/signer.ts';

/** Options of push notification delivery. All options are optional. */
export interface PushOptions {
  /** Egress policy of webhook URLs (SSRF protection). @defaultValue https on the public internet */
  egress?: EgressOptions;
  /** Signs notifications to webhooks without credentials, so that they can authenticate the sender. */
  signer?: PushSigner;
  /** Number of consecutive failures after which a webhook becomes a dead letter. @defaultValue 20 */
  maxAttempts?: number;
  /** Milliseconds of failures after which a webhook becomes a dead letter. @defaultValue 24 hours */
  maxAge?: number;
  /**
   * Upper bound of the retry delay after the first failure, in milliseconds. It doubles with each further failure.
   * @defaultValue 1,000
   */
  minDelay?: number;
  /** Upper bound of all retry delays and of `Retry-After`, in milliseconds. @defaultValue 15 minutes */
  maxDelay?: number;
  /** Response timeout of a webhook, in milliseconds. @defaultValue 15,000 */
  timeout?: number;
  /** Maximum number of concurrent deliveries to one host. @defaultValue 8 */
  maxPerHost?: number;
  /** Maximum number of concurrent deliveries. @defaultValue 256 */
  maxInFlight?: number;
  /**
   * Milliseconds between checks for dead letters that were retried manually, perhaps in another process.
   * @defaultValue 5,000
   */
  pollInterval?: number;
  /** Milliseconds for which `close()` waits for current deliveries. @defaultValue 1,500 */
  closeTimeout?: number;
  /**
   * Creates an OpenTelemetry span for each attempt, in the trace of the task.
   * @defaultValue true if OpenTelemetry was set up before the agent was created
   */
  tracing?: boolean | undefined;
  /** Called with the outcome of each attempt. */
  onAttempt?: (outcome: AttemptOutcome) => void;
  clock?: Pick<Clock, 'now' | 'after'>;
  /** Source of randomness for the jitter. @defaultValue `Math.random` */
  random?: () => number;
}

/** Outcome of an attempt. `dropped`: the webhook responded 410 Gone; `refused`: the egress policy denies its URL. */
export type AttemptOutcome = 'delivered' | 'retried' | 'dropped' | 'refused';

/** Receives log entries of deliveries. */
export type DeliveryLogSink = (entry: {
  level: 'info' | 'warn' | 'error';
  message: string;
  taskId?: string;
  error?: unknown;
}) => void;
