import type { TaskState } from '../protocol/task.ts';
import {
  type Counter,
  type MetricFamily,
  type Histogram,
  type MetricDescriptor,
  Registry,
} from './registry.ts';

/** Every metric, what it tells and by what. */
export const metricNames = {
  requests: {
    name: 'dragoman_requests_total',
    help: 'Requests that were answered; outcome is OK or the reason of the error.',
    labels: ['operation', 'version', 'binding', 'outcome'],
  },
  duration: {
    name: 'dragoman_request_duration_seconds',
    help: 'Time until the answer; for streams, until they ended.',
    labels: ['operation', 'binding'],
  },
  openStreams: { name: 'dragoman_streams_open', help: 'Streams that are open now.' },
  events: { name: 'dragoman_stream_events_total', help: 'Events that were sent on streams.' },
  received: {
    name: 'dragoman_received_bytes_total',
    help: 'Bytes that came over the connections, headers included.',
  },
  sent: {
    name: 'dragoman_sent_bytes_total',
    help: 'Bytes that went over the connections, headers included.',
  },
  limits: {
    name: 'dragoman_limits_hit_total',
    help: 'How often a limit was reached, by its option.',
    labels: ['limit'],
  },
  tasks: {
    name: 'dragoman_tasks_total',
    help: 'How often a task came into a state.',
    labels: ['state'],
  },
  runs: { name: 'dragoman_runs', help: 'Tasks that are being worked on in this process now.' },
  pushes: {
    name: 'dragoman_push_deliveries_total',
    help: 'Push notifications, by what became of them.',
    labels: ['outcome'],
  },
} as const satisfies Record<string, MetricDescriptor>;

/** Upper bounds of the buckets for durations, in seconds. */
const durations: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** What became of an attempt to deliver a push notification. */
export type PushOutcome = 'delivered' | 'retried' | 'dropped' | 'refused';

/** What an agent, its server and its couriers count. One of them may be shared by all. */
export class Metrics {
  /** For metrics of your own beside these. */
  readonly registry: Registry;
  readonly requests: MetricFamily<Counter>;
  readonly duration: MetricFamily<Histogram>;
  readonly #limits: MetricFamily<Counter>;
  readonly #tasks: MetricFamily<Counter>;
  readonly #runs: (() => number)[] = [];
  readonly #pushes: MetricFamily<Counter>;

  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    this.requests = registry.counter(metricNames.requests);
    this.duration = registry.histogram(metricNames.duration, durations);
    this.#limits = registry.counter(metricNames.limits);
    this.#tasks = registry.counter(metricNames.tasks);
    registry.observed(metricNames.runs, 'gauge', () => this.#runs.reduce((sum, read) => sum + read(), 0));
    this.#pushes = registry.counter(metricNames.pushes);
  }

  /** A limit was reached. */
  countLimitHit(limit: string): void {
    this.#limits.of(limit).add();
  }

  /** A task came into a state. May be called on its own. */
  readonly countTaskState = (state: TaskState): void => {
    this.#tasks.of(state).add();
  };

  /** Counts the runs of one more agent when somebody reads. */
  observeRuns(read: () => number): void {
    this.#runs.push(read);
  }

  /** An attempt to deliver a push notification is over. */
  countPush(outcome: PushOutcome): void {
    this.#pushes.of(outcome).add();
  }
}
