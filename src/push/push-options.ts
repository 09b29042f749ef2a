import type { EgressOptions } from '../egress/egress-options.ts';
import type { PushClock } from './clock.ts';
import type { PushSigner } from './sending/signer.ts';

/** How push notifications are sent. Everything has a default. */
export interface PushOptions {
  /**
   * Where webhooks may be.
   * @defaultValue https on the public internet
   */
  egress?: EgressOptions;
  /** Signs notifications to webhooks that gave no credentials, so that they know who speaks. */
  signer?: PushSigner;
  /**
   * After how many failures in a row a webhook is given up.
   * @defaultValue 20
   */
  maxAttempts?: number;
  /**
   * For how many milliseconds a webhook may fail before it is given up.
   * @defaultValue 24 hours
   */
  maxAge?: number;
  /**
   * The longest pause after the first failure, in milliseconds. It doubles with each further one.
   * @defaultValue 1,000
   */
  minDelay?: number;
  /**
   * The longest pause of all, and the longest `Retry-After` that is obeyed, in milliseconds.
   * @defaultValue 15 minutes
   */
  maxDelay?: number;
  /**
   * For how many milliseconds an answer is waited for.
   * @defaultValue 15,000
   */
  timeout?: number;
  /**
   * How many notifications are on their way to one host at once.
   * @defaultValue 8
   */
  maxPerHost?: number;
  /**
   * How many notifications are on their way at once.
   * @defaultValue 256
   */
  maxInFlight?: number;
  /**
   * After how many milliseconds it is noticed that somebody wants a webhook that was given up to be tried again.
   * @defaultValue 5,000
   */
  pollInterval?: number;
  /**
   * For how many milliseconds closing waits for notifications that are on their way.
   * @defaultValue 1,500
   */
  closeTimeout?: number;
  /** Hears how each attempt went. */
  onAttempt?: (outcome: AttemptOutcome) => void;
  clock?: PushClock;
  /** Gives numbers from 0 to 1 for the length of pauses. @defaultValue `Math.random` */
  random?: () => number;
}

/**
 * How an attempt went: it arrived, it will be tried again, the webhook is gone for good, or the egress policy forbids
 * its address.
 */
export type AttemptOutcome = 'delivered' | 'retried' | 'dropped' | 'refused';

/** Hears of what is worth writing down. */
export type DeliveryLogSink = (entry: {
  level: 'info' | 'warn' | 'error';
  message: string;
  taskId?: string;
  error?: unknown;
}) => void;
