import { invalidField } from '../protocol/errors.ts';

/** Operations of a load run. `get` reads one task again and again. */
export const loadOperations = ['send', 'stream', 'get'] as const;

/** Operation of a load run. */
export type LoadOperation = (typeof loadOperations)[number];

/** Greatest values of a {@link LoadPlan}; durations in milliseconds. */
export const loadLimits = {
  rate: 10_000,
  connections: 1_000,
  requests: 1_000_000,
  duration: 3_600_000,
  warmUp: 300_000,
  timeout: 600_000,
} as const;

/** Options of {@link createLoadPlan}; durations in milliseconds. */
export interface LoadPlanOptions {
  /** @defaultValue `send` */
  readonly operation?: LoadOperation;
  /**
   * Requests per second of an open loop: requests are sent at this rate, however long the responses take.
   * @defaultValue none: closed loop, each client sends its next request after the response
   */
  readonly rate?: number | undefined;
  /** Clients of a closed loop, or maximum number of open requests of an open loop. @defaultValue 10, or 256 */
  readonly connections?: number | undefined;
  /** Number of measured requests. @defaultValue no limit */
  readonly requests?: number | undefined;
  /** Time in which measured requests are sent. @defaultValue 10 s, or the maximum if `requests` is set */
  readonly duration?: number | undefined;
  /** Time before that, in which requests are sent but not measured. @defaultValue 1 s */
  readonly warmUp?: number | undefined;
  /** Time limit of a request. @defaultValue 30 s */
  readonly timeout?: number | undefined;
}

/** What a load run does; durations in milliseconds. */
export interface LoadPlan {
  readonly operation: LoadOperation;
  readonly rate: number | undefined;
  readonly connections: number;
  readonly requests: number | undefined;
  readonly duration: number;
  readonly warmUp: number;
  readonly timeout: number;
}

/** Applies defaults and checks limits. @throws {@link A2AError} `INVALID_PARAMS` */
export function createLoadPlan(options: LoadPlanOptions): LoadPlan {
  const { operation = 'send', rate, requests } = options;
  const plan = {
    operation,
    rate,
    connections: options.connections ?? (rate === undefined ? 10 : 256),
    requests,
    duration: options.duration ?? (requests === undefined ? 10_000 : loadLimits.duration),
    warmUp: options.warmUp ?? 1_000,
    timeout: options.timeout ?? 30_000,
  };
  if (!loadOperations.includes(operation))
    throw invalidField('operation', `must be one of ${loadOperations.join(', ')}`);
  if (rate !== undefined) checkRange('rate', rate, 0.1);
  if (requests !== undefined) checkRange('requests', requests, 1, true);
  checkRange('connections', plan.connections, 1, true);
  checkRange('duration', plan.duration, 1);
  checkRange('warmUp', plan.warmUp, 0);
  checkRange('timeout', plan.timeout, 1);
  return plan;
}

function checkRange(name: keyof typeof loadLimits, value: number, min: number, isWhole = false): void {
  const max = loadLimits[name];
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return;
  throw invalidField(name, `must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`);
}
