import type { LatencySummary } from './latency-histogram.ts';
import type { LoadPlan } from './load-plan.ts';

/** Failed requests of one reason. */
export interface LoadErrorCount {
  /** Reason of the error, such as `UNAVAILABLE`, or state of the task, such as `TASK_STATE_FAILED`. */
  readonly reason: string;
  readonly count: number;
  /** Message of the first of them. */
  readonly example: string;
}

/** Load of the time since the last progress, including the warm-up. */
export interface LoadInterval {
  /** Completed requests, including failed ones. */
  readonly requests: number;
  readonly errors: number;
  readonly events: number;
  /** Latencies of successful requests; undefined if there are none. */
  readonly latency: LatencySummary | undefined;
}

/** Progress of a load run, once per second. */
export interface LoadProgress {
  readonly phase: 'warm-up' | 'measuring' | 'finishing';
  /** Milliseconds since the start of the run. */
  readonly elapsed: number;
  /** Finished share of the run, from 0 to 1. */
  readonly share: number;
  /** Completed and measured requests, including failed ones. */
  readonly requests: number;
  /** Failed and measured requests. */
  readonly errors: number;
  /** Requests without a response yet. */
  readonly open: number;
  /** Milliseconds since the last progress. */
  readonly interval: number;
  readonly last: LoadInterval;
}

/** Result of a load run. Only measured requests count; durations in milliseconds. */
export interface LoadReport {
  readonly plan: LoadPlan;
  /** An open loop keeps its rate, a closed loop waits for responses. */
  readonly loop: 'open' | 'closed';
  /** True if the run was stopped before its end. */
  readonly isStopped: boolean;
  /** From the end of the warm-up to the last response. */
  readonly duration: number;
  /** Completed requests, including failed ones. */
  readonly requests: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Requests that were due but not sent, because too many were open. */
  readonly unsent: number;
  /** Requests without a response when the run was stopped. */
  readonly abandoned: number;
  /** Successful requests per second. */
  readonly throughput: number;
  /** Events of streams. */
  readonly events: number;
  /**
   * Latencies of successful requests; undefined if there are none. In an open loop they start at the intended send time,
   * so that a slow agent cannot hide requests that had to wait (coordinated omission).
   */
  readonly latency: LatencySummary | undefined;
  /** Time until the first event of a stream. */
  readonly firstEvent: LatencySummary | undefined;
  /** How much later than intended requests of an open loop were sent. Included in the latencies. */
  readonly sendDelay: LatencySummary | undefined;
  /** Most frequent first. */
  readonly errors: readonly LoadErrorCount[];
}
