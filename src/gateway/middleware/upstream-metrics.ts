import { type Clock, systemClock } from '../../primitives/clock.ts';
import { durationBuckets } from '../../metrics/metrics.ts';
import type { Registry } from '../../metrics/registry.ts';
import { type Agent, type Operation, operationNames } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
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
    name: 'a2a.client.operation.duration',
    unit: 's',
    help: 'Duration of calls to upstreams; for streams, until the stream ended.',
    labels: ['upstream', 'a2a.method.name', 'error.type'],
  },
  up: {
    name: 'dragoman_upstream_up',
    help: 'Result of the last health check of an upstream: 1 up, 0 down.',
    labels: ['upstream'],
  },
} as const;

/** Metrics of all upstreams of a gateway. */
export class UpstreamMetrics {
  readonly #requests;
  readonly #duration;
  readonly #up;
  readonly #clock: Clock;

  constructor(registry: Registry, clock: Clock = systemClock) {
    this.#requests = registry.counter(upstreamMetricNames.requests);
    this.#duration = registry.histogram(upstreamMetricNames.duration, durationBuckets);
    this.#up = registry.gauge(upstreamMetricNames.up);
    this.#clock = clock;
  }

  /** Starts to record a call to an upstream. */
  begin(upstream: string, operation: Operation): CallObserver {
    const startedAt = this.#clock.monotonic();
    return {
      onEnd: (error) => {
        this.#requests.of(upstream, operation, error ? classifyError(error) : 'ok').add();
        this.#duration
          .of(upstream, operationNames[operation], error ? A2AError.from(error).reason : '')
          .observe((this.#clock.monotonic() - startedAt) / 1000);
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
