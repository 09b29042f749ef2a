import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { Registry } from '../../metrics/registry.ts';
import type { Agent, Operation } from '../../protocol/agent.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { classifyError } from './error-classification.ts';
import { type CallObserver, observeCalls } from './observe-calls.ts';

/** Names, labels and help texts of the upstream metrics. */
export const upstreamMetricNames = {
  requests: {
    name: 'dragoman_upstream_requests_total',
    help: 'Calls to upstreams; outcome is ok or the error class.',
    labels: ['upstream', 'operation', 'outcome'],
  },
  duration: {
    name: 'dragoman_upstream_duration_seconds',
    help: 'Duration of calls to upstreams; for streams, until the stream ended.',
    labels: ['upstream', 'operation'],
  },
  up: {
    name: 'dragoman_upstream_up',
    help: 'Result of the last health check of an upstream: 1 up, 0 down.',
    labels: ['upstream'],
  },
} as const;

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Metrics of all upstreams of a gateway. */
export class UpstreamMetrics {
  readonly #requests;
  readonly #duration;
  readonly #up;
  readonly #clock: Clock;

  constructor(registry: Registry, clock: Clock = systemClock) {
    this.#requests = registry.counter(upstreamMetricNames.requests);
    this.#duration = registry.histogram(upstreamMetricNames.duration, buckets);
    this.#up = registry.gauge(upstreamMetricNames.up);
    this.#clock = clock;
  }

  /** Starts to record a call to an upstream. */
  begin(upstream: string, operation: Operation): CallObserver {
    const startedAt = this.#clock.monotonic();
    return {
      onEnd: (error) => {
        this.#requests.of(upstream, operation, error ? classifyError(error) : 'ok').add();
        this.#duration.of(upstream, operation).observe((this.#clock.monotonic() - startedAt) / 1000);
        return undefined;
      },
    };
  }

  /** Records the result of a health check. */
  recordHealth(upstream: string, isUp: boolean): void {
    this.#up.of(upstream).set(isUp ? 1 : 0);
  }
}

/** Middleware that records the calls to an agent under a name. */
export function withUpstreamMetrics<A extends Agent>(agent: A, name: string, metrics: UpstreamMetrics): A {
  return withInterceptor(
    agent,
    observeCalls((operation) => metrics.begin(name, operation)),
  );
}
