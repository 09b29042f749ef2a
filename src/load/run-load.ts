import { type Clock, sleep, systemClock } from '../primitives/clock.ts';
import { A2AError } from '../protocol/errors.ts';
import { LoadFigures, type LoadFailure } from './load-figures.ts';
import type { LoadPlan } from './load-plan.ts';
import type { LoadProgress, LoadReport } from './load-report.ts';

/** Observes one request. */
export interface LoadRequestContext {
  /** Aborts at the time limit and when the run is stopped. */
  readonly signal: AbortSignal;
  /** Called for each event of a stream. */
  readonly onEvent: () => void;
}

/** Performs one request. @returns why it failed; undefined if it succeeded. A rejection is a failure too. */
export type PerformRequest = (request: LoadRequestContext) => Promise<LoadFailure | undefined>;

/** Options of {@link runLoad}. */
export interface RunLoadOptions {
  /** Stops the run; the report contains what was measured until then. */
  readonly signal?: AbortSignal | undefined;
  /** Called once per second. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * A request of an open loop may be sent this many milliseconds early, in which case its latency starts when it is sent.
 * Timers are inaccurate by this time, which would otherwise be measured as latency of the agent.
 */
const timerAccuracy = 1;
/** Pause of a client of a closed loop after a failure, so that it does not flood an agent that rejects everything. */
const failurePause = 10;
const progressInterval = 1_000;

/** Sends requests according to a plan and measures them. Never rejects because of a failed request. */
export function runLoad(
  plan: LoadPlan,
  perform: PerformRequest,
  options: RunLoadOptions = {},
): Promise<LoadReport> {
  return new LoadRun(plan, perform, options).run();
}

class LoadRun {
  readonly #plan: LoadPlan;
  readonly #perform: PerformRequest;
  readonly #onProgress: (progress: LoadProgress) => void;
  readonly #clock: Clock;
  readonly #figures = new LoadFigures();
  readonly #stop = new AbortController();
  readonly #outerSignal: AbortSignal | undefined;
  readonly #start: number;
  readonly #measureFrom: number;
  readonly #end: number;
  /** Requests without a response yet; at most `connections`. */
  readonly #open = new Set<AbortController>();
  #wakeSender: (() => void) | undefined = undefined;
  /** Measured requests that were sent. */
  #sent = 0;
  #unsent = 0;
  #abandoned = 0;
  #isSending = true;
  #lastResponse: number;
  #stoppedAt: number | undefined = undefined;
  #lastProgress: number;

  constructor(plan: LoadPlan, perform: PerformRequest, options: RunLoadOptions) {
    const { signal, onProgress = () => {}, clock = systemClock } = options;
    this.#plan = plan;
    this.#perform = perform;
    this.#onProgress = onProgress;
    this.#clock = clock;
    this.#outerSignal = signal;
    this.#start = clock.monotonic();
    this.#measureFrom = this.#start + plan.warmUp;
    this.#end = this.#measureFrom + plan.duration;
    this.#lastResponse = this.#measureFrom;
    this.#lastProgress = this.#start;
  }

  async run(): Promise<LoadReport> {
    const stop = (): void => this.#stopNow();
    this.#outerSignal?.addEventListener('abort', stop);
    if (this.#outerSignal?.aborted) stop();
    const stopProgress = this.#clock.every(progressInterval, () => this.#reportProgress());
    try {
      await (this.#plan.rate === undefined ? this.#runClosedLoop() : this.#runOpenLoop(this.#plan.rate));
    } finally {
      stopProgress();
      this.#outerSignal?.removeEventListener('abort', stop);
    }
    this.#reportProgress();
    return this.#report();
  }

  /** Each client sends its next request after the response to the last one. */
  async #runClosedLoop(): Promise<void> {
    const runClient = async (): Promise<void> => {
      while (this.#maySend()) {
        const hasSucceeded = await this.#send(this.#clock.monotonic());
        if (!hasSucceeded) await this.#sleep(failurePause);
      }
      this.#isSending = false;
    };
    await Promise.all(Array.from({ length: this.#plan.connections }, runClient));
  }

  /** Sends requests at their intended times, or as soon as there is a free connection after that. */
  async #runOpenLoop(rate: number): Promise<void> {
    const interval = 1_000 / rate;
    const sending: Set<Promise<unknown>> = new Set();
    let index = 0;
    const intendedTime = (): number => this.#start + index * interval;
    for (; this.#maySend() && intendedTime() < this.#end; index++) {
      const wait = intendedTime() - this.#clock.monotonic();
      if (wait > timerAccuracy) await this.#sleep(wait - timerAccuracy);
      while (this.#open.size >= this.#plan.connections && !this.#stop.signal.aborted)
        await new Promise<void>((resolve) => (this.#wakeSender = resolve));
      if (!this.#maySend()) break;
      const request = this.#send(intendedTime());
      sending.add(request);
      void request.then(() => sending.delete(request));
    }
    this.#isSending = false;
    if (!this.#stop.signal.aborted) this.#unsent = this.#countDue(intendedTime(), interval);
    await Promise.all(sending);
  }

  /** Returns the number of measured requests from the given intended time to the end of the run. */
  #countDue(intended: number, interval: number): number {
    const first = Math.max(intended, this.#measureFrom);
    const due = Math.max(0, Math.ceil((this.#end - first) / interval));
    return Math.min(due, (this.#plan.requests ?? Infinity) - this.#sent);
  }

  #maySend(): boolean {
    return (
      !this.#stop.signal.aborted &&
      this.#sent < (this.#plan.requests ?? Infinity) &&
      this.#clock.monotonic() < this.#end
    );
  }

  /** Performs one request. Never rejects. @returns true if it succeeded */
  async #send(intended: number): Promise<boolean> {
    const sentAt = this.#clock.monotonic();
    const startedAt = Math.min(intended, sentAt);
    const isMeasured = intended >= this.#measureFrom;
    if (isMeasured) {
      this.#sent++;
      this.#figures.sendDelay.record(sentAt - intended);
    }
    const abort = new AbortController();
    this.#open.add(abort);
    let hasTimedOut = false;
    const cancelTimer = this.#clock.after(this.#plan.timeout, () => {
      hasTimedOut = true;
      abort.abort();
    });
    let events = 0;
    let firstEvent: number | undefined;
    const onEvent = (): void => {
      events++;
      firstEvent ??= this.#clock.monotonic() - startedAt;
    };
    let failure = await this.#performSafely({ signal: abort.signal, onEvent });
    cancelTimer();
    this.#open.delete(abort);
    const now = this.#clock.monotonic();
    if (failure && hasTimedOut)
      failure = { reason: 'TIMEOUT', message: `No response within ${this.#plan.timeout} ms` };
    if (failure && this.#stop.signal.aborted) {
      if (isMeasured) this.#abandoned++;
    } else {
      this.#figures.complete({ isMeasured, latency: now - startedAt, firstEvent, events, failure });
      if (isMeasured) this.#lastResponse = now;
    }
    this.#wakeSender?.();
    return failure === undefined;
  }

  async #performSafely(request: LoadRequestContext): Promise<LoadFailure | undefined> {
    try {
      return await this.#perform(request);
    } catch (thrown) {
      const { reason, message } = A2AError.from(thrown);
      return { reason, message };
    }
  }

  #sleep(milliseconds: number): Promise<void> {
    return sleep(this.#clock, milliseconds, this.#stop.signal).catch(() => {});
  }

  #stopNow(): void {
    this.#stoppedAt = this.#clock.monotonic();
    this.#stop.abort();
    for (const each of this.#open) each.abort();
    this.#wakeSender?.();
  }

  #reportProgress(): void {
    const now = this.#clock.monotonic();
    const { succeeded, failed } = this.#figures;
    const { requests = Infinity } = this.#plan;
    const isWarmingUp = now < this.#measureFrom;
    this.#onProgress({
      phase: !this.#isSending ? 'finishing' : isWarmingUp ? 'warm-up' : 'measuring',
      elapsed: now - this.#start,
      share: Math.min(
        1,
        Math.max((now - this.#start) / (this.#end - this.#start), (succeeded + failed) / requests),
      ),
      requests: succeeded + failed,
      errors: failed,
      open: this.#open.size,
      interval: now - this.#lastProgress,
      last: this.#figures.takeInterval(),
    });
    this.#lastProgress = now;
  }

  #report(): LoadReport {
    const { succeeded, failed, events, latency, firstEvent, sendDelay } = this.#figures;
    const isOpen = this.#plan.rate !== undefined;
    const duration = this.#endOfMeasurement() - this.#measureFrom;
    return {
      plan: this.#plan,
      loop: isOpen ? 'open' : 'closed',
      isStopped: this.#stoppedAt !== undefined,
      duration,
      requests: succeeded + failed,
      succeeded,
      failed,
      unsent: this.#unsent,
      abandoned: this.#abandoned,
      throughput: duration === 0 ? 0 : (succeeded * 1_000) / duration,
      events,
      latency: latency.summary(),
      firstEvent: firstEvent.summary(),
      sendDelay: isOpen ? sendDelay.summary() : undefined,
      errors: this.#figures.errors(),
    };
  }

  #endOfMeasurement(): number {
    if (this.#stoppedAt !== undefined) return Math.max(this.#measureFrom, this.#stoppedAt);
    // A run of a fixed number of requests ends with its last response.
    const hasSentAll = this.#sent >= (this.#plan.requests ?? Infinity);
    return hasSentAll ? this.#lastResponse : Math.max(this.#end, this.#lastResponse);
  }
}
