import { truncate } from '../primitives/text.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import type { LoadErrorCount, LoadInterval } from './load-report.ts';

/** Maximum length of an example of an error, in characters. */
const maxExampleLength = 300;

/** Why a request failed. */
export interface LoadFailure {
  readonly reason: string;
  readonly message: string;
}

/** Figures of a completed request; durations in milliseconds. */
export interface CompletedRequest {
  /** False during the warm-up. */
  readonly isMeasured: boolean;
  readonly latency: number;
  /** Until the first event of a stream. */
  readonly firstEvent: number | undefined;
  readonly events: number;
  readonly failure: LoadFailure | undefined;
}

/** Counts the requests of a load run. Its memory does not depend on their number. */
export class LoadFigures {
  readonly latency = new LatencyHistogram();
  readonly firstEvent = new LatencyHistogram();
  readonly sendDelay = new LatencyHistogram();
  succeeded = 0;
  failed = 0;
  events = 0;
  /** There are few reasons, so the map is small. */
  readonly #errors = new Map<string, { count: number; example: string }>();
  readonly #recent = new LatencyHistogram();
  #recentRequests = 0;
  #recentErrors = 0;
  #recentEvents = 0;

  complete({ isMeasured, latency, firstEvent, events, failure }: CompletedRequest): void {
    this.#recentRequests++;
    this.#recentEvents += events;
    if (failure) this.#recentErrors++;
    else this.#recent.record(latency);
    if (!isMeasured) return;
    this.events += events;
    if (firstEvent !== undefined) this.firstEvent.record(firstEvent);
    if (failure) this.#countFailure(failure);
    else {
      this.succeeded++;
      this.latency.record(latency);
    }
  }

  /** Returns the load since the last call. */
  takeInterval(): LoadInterval {
    const interval = {
      requests: this.#recentRequests,
      errors: this.#recentErrors,
      events: this.#recentEvents,
      latency: this.#recent.summary(),
    };
    this.#recentRequests = this.#recentErrors = this.#recentEvents = 0;
    this.#recent.clear();
    return interval;
  }

  /** Returns the failures by reason, most frequent first. */
  errors(): LoadErrorCount[] {
    return [...this.#errors]
      .map(([reason, { count, example }]) => ({ reason, count, example }))
      .sort((a, b) => b.count - a.count);
  }

  #countFailure({ reason, message }: LoadFailure): void {
    this.failed++;
    const known = this.#errors.get(reason);
    if (known) known.count++;
    else this.#errors.set(reason, { count: 1, example: truncate(message, maxExampleLength) });
  }
}
