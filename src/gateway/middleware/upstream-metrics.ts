import { type Clock, systemClock } from '../../client/abortable-sleep.ts';
import type { Registry } from '../../metrics/registry.ts';
import type { Agent } from '../../protocol/agent.ts';
import { withInterceptors, type CallInterceptor } from './interceptors.ts';
import { classifyError } from './error-classification.ts';

/** What is counted of upstreams. */
export const upstreamMetricNames = {
  requests: {
    name: 'dragoman_upstream_requests_total',
    help: 'Calls to upstreams; outcome is ok or the class of the error.',
    labels: ['upstream', 'operation', 'outcome'],
  },
  duration: {
    name: 'dragoman_upstream_duration_seconds',
    help: 'Time until the answer of an upstream; for streams, until they ended.',
    labels: ['upstream', 'operation'],
  },
  up: {
    name: 'dragoman_upstream_up',
    help: 'Whether an upstream was there when somebody looked last.',
    labels: ['upstream'],
  },
} as const;

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts calls to upstreams. One for all of them. */
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

  /** Counts the calls to one upstream. */
  of(upstream: string): CallInterceptor {
    return {
      begin: (operation) => {
        const began = this.#clock.now();
        return {
          ended: (error) => {
            this.#requests.of(upstream, operation, error ? classifyError(error) : 'ok').add();
            this.#duration.of(upstream, operation).observe((this.#clock.now() - began) / 1000);
            return undefined;
          },
        };
      },
    };
  }

  /** Somebody looked after an upstream. */
  seen(upstream: string, isUp: boolean): void {
    this.#up.of(upstream).set(isUp ? 1 : 0);
  }
}

/** Counts the calls to an agent under a name. */
export function withUpstreamMetrics(agent: Agent, name: string, metrics: UpstreamMetrics): Agent {
  return withInterceptors(agent, metrics.of(name));
}
