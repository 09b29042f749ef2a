import { backoffDelay } from '../../primitives/backoff.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { markOutageError, type Outage } from '../../protocol/outage.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { type CallObserver, observeCalls } from './observe-calls.ts';
import { findTokenError, isOutage, shortErrorText } from './error-classification.ts';

/** Options of {@link CircuitBreaker}. */
export interface CircuitBreakerOptions {
  /** Name of the agent in errors. */
  name: string;
  /** Consecutive failures that open the circuit. @defaultValue 5 */
  failures?: number;
  /** Milliseconds until an open circuit admits a probe call; doubles with each failed probe. @defaultValue 10 000 */
  openFor?: number;
  /** Upper bound of the doubled delay, in milliseconds. @defaultValue 120 000 */
  maxOpenFor?: number;
  clock?: Clock;
  /** Called on each state change. */
  onState?: (state: CircuitBreakerState, error: A2AError | undefined) => void;
}

/** `closed` admits calls, `open` rejects them, `half-open` waits for the result of one probe call. */
export type CircuitBreakerState = 'closed' | 'open' | 'half-open';

/** Rejects calls to a failing agent at once with `UNAVAILABLE`, which gives the agent time to recover. */
export class CircuitBreaker {
  readonly #options: Required<Omit<CircuitBreakerOptions, 'onState'>> &
    Pick<CircuitBreakerOptions, 'onState'>;
  #state: CircuitBreakerState = 'closed';
  #failures = 0;
  /** Time of the first of the consecutive failures. */
  #since = 0;
  #until = 0;
  #opened = 0;
  #error: A2AError | undefined;
  /** Waits for the next change that may admit a call. */
  #change: { promise: Promise<void>; resolve: () => void } | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: CircuitBreakerOptions) {
    const defaults = { failures: 5, openFor: 10_000, maxOpenFor: 120_000, clock: systemClock };
    this.#options = { ...defaults, ...options };
  }

  get state(): CircuitBreakerState {
    return this.#state;
  }

  /** Starts a call. @throws {@link A2AError} `UNAVAILABLE` while calls are rejected. */
  begin(): CallObserver {
    const isProbe = this.#state !== 'closed';
    if (isProbe) this.#admitProbe();
    let isPending = true;
    const finish = (error: A2AError | undefined): void => {
      if (!isPending) return;
      isPending = false;
      if (error && (error.reason === 'CANCELED' || findTokenError(error))) {
        // A probe that was canceled, or that got no token, has no result: the next call becomes the probe.
        if (isProbe && this.#state === 'half-open') this.#setState('open', this.#error);
      } else this.report(error);
    };
    return {
      onResponse: () => finish(undefined),
      onEnd(error) {
        finish(error);
        return undefined;
      },
    };
  }

  /** Returns the outage while calls are rejected. Its end may admit one call only, the probe. */
  outage(): Outage | undefined {
    const { clock } = this.#options;
    const remaining = this.#until - clock.monotonic();
    if (this.#state === 'closed' || (this.#state === 'open' && remaining <= 0)) return undefined;
    if (!this.#change) {
      let resolve = (): void => {};
      this.#change = { promise: new Promise<void>((resolved) => (resolve = resolved)), resolve };
      if (this.#state === 'open') this.#stopTimer = clock.after(remaining, () => this.#signalChange());
    }
    return { error: this.#openError(), ended: this.#change.promise };
  }

  #signalChange(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const change = this.#change;
    this.#change = undefined;
    change?.resolve();
  }

  /** Records the result of a call or of a health check. */
  report(error: A2AError | undefined): void {
    if (!error || !isOutage(error)) {
      this.#failures = 0;
      this.#opened = 0;
      this.#error = undefined;
      if (this.#state !== 'closed') this.#setState('closed', undefined);
      return;
    }
    const { clock, failures } = this.#options;
    if (this.#failures++ === 0) this.#since = clock.now();
    this.#error = error;
    if (this.#state === 'half-open' || (this.#state === 'closed' && this.#failures >= failures))
      this.#open(error);
  }

  /** Lets the next call through as a probe, after a successful health check. */
  allowProbe(): void {
    if (this.#state !== 'open') return;
    this.#until = this.#options.clock.monotonic();
    this.#signalChange();
  }

  #open(error: A2AError): void {
    const { clock, openFor, maxOpenFor } = this.#options;
    const backoff = { minDelay: openFor, maxDelay: maxOpenFor, jitter: 'none' } as const;
    this.#until = clock.monotonic() + backoffDelay(this.#opened++, backoff);
    this.#setState('open', error);
  }

  #admitProbe(): void {
    if (this.#state === 'open' && this.#options.clock.monotonic() >= this.#until) {
      this.#setState('half-open', this.#error);
      return;
    }
    throw this.#openError();
  }

  #openError(): A2AError {
    const { name, clock } = this.#options;
    const since = new Date(this.#since).toISOString();
    const why = this.#error ? `: ${shortErrorText(this.#error)}` : '';
    const secondsLeft = Math.max(1, Math.ceil((this.#until - clock.monotonic()) / 1000));
    const error = new A2AError('UNAVAILABLE', `The agent ${name} has been unavailable since ${since}${why}`, {
      cause: this.#error,
      details: { agent: name, circuit: this.#state, since, retryAfter: String(secondsLeft) },
      hint: `Retry in ${secondsLeft} s.`,
    });
    return markOutageError(error);
  }

  #setState(state: CircuitBreakerState, error: A2AError | undefined): void {
    this.#state = state;
    this.#signalChange();
    this.#options.onState?.(state, error);
  }
}

/** Middleware that calls an agent through a circuit breaker. */
export function withCircuitBreaker<A extends Agent>(
  agent: A,
  options: CircuitBreakerOptions | CircuitBreaker,
): A {
  const breaker = options instanceof CircuitBreaker ? options : new CircuitBreaker(options);
  return {
    ...withInterceptor(
      agent,
      observeCalls(() => breaker.begin()),
    ),
    outage: () => breaker.outage() ?? agent.outage?.(),
  };
}
