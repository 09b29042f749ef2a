import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { Registry } from '../../metrics/registry.ts';
import type { Agent } from '../../protocol/agent.ts';
import { withInterceptors, type CallInterceptor } from './interceptors.ts';
import { classifyError } from './error-classification.ts';

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

  /** Returns an interceptor that records the calls to one upstream. */
  interceptor(upstream: string): CallInterceptor {
    return {
      begin: (operation) => {
        const startedAt = this.#clock.monotonic();
        return {
          onEnd: (error) => {
            this.#requests.of(upstream, operation, error ? classifyError(error) : 'ok').add();
            this.#duration.of(upstream, operation).observe((this.#clock.monotonic() - startedAt) / 1000);
            return undefined;
          },
        };
      },
    };
  }

  /** Records the result of a health check. */
  recordHealth(upstream: string, isUp: boolean): void {
    this.#up.of(upstream).set(isUp ? 1 : 0);
  }
}

/** Middleware that records the calls to an agent under a name. */
export function withUpstreamMetrics(agent: Agent, name: string, metrics: UpstreamMetrics): Agent {
  return withInterceptors(agent, metrics.interceptor(name));
}
