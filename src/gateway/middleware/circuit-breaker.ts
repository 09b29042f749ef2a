import { type Clock, systemClock } from '../../client/abortable-sleep.ts';
import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { withInterceptors, type CallObserver, type CallInterceptor } from './interceptors.ts';
import { shortErrorText, isOutage } from './error-classification.ts';

/** When calls to an agent that is in trouble are not made any more. */
export interface CircuitBreakerOptions {
  /** What the agent is called in errors. */
  name: string;
  /**
   * Outages in a row after which no more calls are made.
   * @defaultValue 5
   */
  failures?: number;
  /**
   * Milliseconds after which one call is let through to see whether it is back; twice as long after each that was not.
   * @defaultValue 10 000
   */
  openFor?: number;
  /**
   * The longest of these.
   * @defaultValue 120 000
   */
  maxOpenFor?: number;
  clock?: Clock;
  /** Told when it opens and closes. */
  onState?: (state: CircuitBreakerState, error: A2AError | undefined) => void;
}

/** `closed` lets calls through, `open` does not, `half-open` waits for the one that shows whether the agent is back. */
export type CircuitBreakerState = 'closed' | 'open' | 'half-open';

/** Keeps calls away from an agent that is in trouble, so that callers hear of it at once and it can recover. */
export class CircuitBreaker implements CallInterceptor {
  readonly #options: Required<Omit<CircuitBreakerOptions, 'onState'>> &
    Pick<CircuitBreakerOptions, 'onState'>;
  #state: CircuitBreakerState = 'closed';
  #failures = 0;
  /** When the first of the failures in a row was. */
  #since = 0;
  #until = 0;
  #opened = 0;
  #error: A2AError | undefined;

  constructor(options: CircuitBreakerOptions) {
    const defaults = { failures: 5, openFor: 10_000, maxOpenFor: 120_000, clock: systemClock };
    this.#options = { ...defaults, ...options };
  }

  get state(): CircuitBreakerState {
    return this.#state;
  }

  begin(): CallObserver {
    const isProbe = this.#state !== 'closed';
    if (isProbe) this.#admitProbe();
    let isOpen = true;
    const settle = (error: A2AError | undefined): void => {
      if (!isOpen) return;
      isOpen = false;
      if (error?.reason === 'CANCELED') {
        // It says nothing about the agent: the next call may find out.
        if (isProbe && this.#state === 'half-open') this.#become('open', this.#error);
      } else this.report(error);
    };
    return {
      answered: () => settle(undefined),
      ended(error) {
        settle(error);
        return undefined;
      },
    };
  }

  /** Takes note of how the agent is: of a call, or of somebody who looked. */
  report(error: A2AError | undefined): void {
    if (!error || !isOutage(error)) {
      this.#failures = 0;
      this.#opened = 0;
      this.#error = undefined;
      if (this.#state !== 'closed') this.#become('closed', undefined);
      return;
    }
    const { clock, failures } = this.#options;
    if (this.#failures++ === 0) this.#since = clock.now();
    this.#error = error;
    if (this.#state === 'half-open' || (this.#state === 'closed' && this.#failures >= failures))
      this.#open(error);
  }

  /** Somebody has seen the agent: the next call may find out. */
  allowProbe(): void {
    if (this.#state === 'open') this.#until = this.#options.clock.now();
  }

  #open(error: A2AError): void {
    const { clock, openFor, maxOpenFor } = this.#options;
    this.#until = clock.now() + Math.min(maxOpenFor, openFor * 2 ** this.#opened++);
    this.#become('open', error);
  }

  #admitProbe(): void {
    if (this.#state === 'open' && this.#options.clock.now() >= this.#until) {
      this.#become('half-open', this.#error);
      return;
    }
    throw this.#refusal();
  }

  #refusal(): A2AError {
    const { name, clock } = this.#options;
    const since = new Date(this.#since).toISOString();
    const why = this.#error ? `: ${shortErrorText(this.#error)}` : '';
    const left = Math.max(1, Math.ceil((this.#until - clock.now()) / 1000));
    return new A2AError('UNAVAILABLE', `The agent ${name} has been unavailable since ${since}${why}`, {
      cause: this.#error,
      details: { agent: name, circuit: this.#state, since, retryAfterSeconds: String(left) },
      hint: `It is tried again in ${left} s.`,
    });
  }

  #become(state: CircuitBreakerState, error: A2AError | undefined): void {
    this.#state = state;
    this.#options.onState?.(state, error);
  }
}

/** Puts a breaker before an agent. */
export function withCircuitBreaker(agent: Agent, options: CircuitBreakerOptions | CircuitBreaker): Agent {
  return withInterceptors(agent, options instanceof CircuitBreaker ? options : new CircuitBreaker(options));
}
