import type { Clock } from '../../primitives/clock.ts';
import { FrameTooLargeError } from '../../primitives/formats/sse.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { ClientSettings } from '../connect-options.ts';
import { HttpTransportError } from '../http/http-client.ts';
import { noResponseError } from '../http/response-errors.ts';
import type { OutboundRequest } from '../http/send-request.ts';

/** Aborts a connection when the caller aborts or when no byte arrives within the idle timeout. */
export class IdleWatchdog {
  readonly #clock: Clock;
  readonly #idleTimeout: number;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  #lastByteAt: number;
  #cancelTimer: (() => void) | undefined;
  #hasTimedOut = false;
  #isPaused = false;

  constructor(settings: ClientSettings, outer: AbortSignal) {
    this.#clock = settings.clock;
    this.#idleTimeout = settings.timeouts.idle;
    this.#outer = outer;
    this.#lastByteAt = this.#clock.monotonic();
    if (outer.aborted) this.#onAbort();
    outer.addEventListener('abort', this.#onAbort);
    if (this.#idleTimeout > 0) this.#schedule(this.#idleTimeout);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Suspends the timeout while the consumer processes frames, because no bytes are read meanwhile. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Restarts the timeout after a byte arrived or the consumer continues. */
  reset(): void {
    this.#isPaused = false;
    this.#lastByteAt = this.#clock.monotonic();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  toError(thrown: unknown, outbound: OutboundRequest): A2AError {
    if (this.#outer.aborted) return canceledError(this.#outer);
    if (this.#hasTimedOut)
      return new A2AError('TIMEOUT', `No data from ${outbound.target.origin} for ${this.#idleTimeout} ms`, {
        cause: thrown,
        hint: 'Raise `timeouts.idle` if the agent may be silent for longer.',
      });
    if (thrown instanceof FrameTooLargeError)
      return new A2AError('INVALID_AGENT_RESPONSE', `A stream event is too large: ${thrown.message}`, {
        hint: 'Raise `limits.frame` to accept larger events.',
      });
    if (thrown instanceof HttpTransportError)
      return noResponseError(thrown, outbound.target.origin + outbound.target.path);
    return A2AError.from(thrown);
  }

  #onAbort = (): void => {
    this.#controller.abort(this.#outer.reason);
  };

  /** Uses one timer per stream, not one per chunk: when it fires, it checks when the last byte arrived. */
  #schedule(milliseconds: number): void {
    this.#cancelTimer = this.#clock.after(milliseconds, () => {
      const remaining = this.#isPaused
        ? this.#idleTimeout
        : this.#lastByteAt + this.#idleTimeout - this.#clock.monotonic();
      if (remaining > 0) {
        this.#schedule(remaining);
        return;
      }
      this.#hasTimedOut = true;
      this.#controller.abort(new Error('idle timeout'));
    });
  }
}
