import type { TaskState } from '../protocol/task.ts';
import {
  type Counter,
  type MetricFamily,
  type Histogram,
  type MetricDescriptor,
  Registry,
} from './registry.ts';
import { type ObservedReplica, ReplicaMetrics } from './replica-metrics.ts';

/** Names, help texts and labels of the metrics of servers and agents. */
export const metricNames = {
  requests: {
    name: 'dragoman_requests_total',
    help: 'Completed requests; outcome is OK or the error reason.',
    labels: ['operation', 'version', 'transport', 'outcome'],
  },
  duration: {
    name: 'a2a.server.operation.duration',
    unit: 's',
    help: 'Time until the response was sent, or until a stream ended.',
    labels: ['a2a.method.name', 'a2a.protocol.version', 'a2a.protocol.binding', 'error.type'],
  },
  runDuration: {
    name: 'gen_ai.invoke_agent.duration',
    unit: 's',
    help: 'Time of a run, from a message or the answer to a question until the run ended.',
    labels: ['gen_ai.agent.name', 'error.type'],
  },
  openStreams: { name: 'dragoman_streams_open', help: 'Open streams.' },
  events: { name: 'dragoman_stream_events_total', help: 'Events sent on streams.' },
  received: {
    name: 'dragoman_received_bytes_total',
    help: 'Bytes received on connections, including headers.',
  },
  sent: {
    name: 'dragoman_sent_bytes_total',
    help: 'Bytes sent on connections, including headers.',
  },
  bodyBytes: { name: 'dragoman_body_bytes', help: 'Bytes of large request bodies in transit.' },
  outputBytes: {
    name: 'dragoman_unsent_bytes',
    help: 'Bytes of large responses that clients have not read yet.',
  },
  limits: {
    name: 'dragoman_limits_hit_total',
    help: 'Requests that exceeded a limit, by limit option.',
    labels: ['limit'],
  },
  tasks: {
    name: 'dragoman_tasks_total',
    help: 'Transitions of tasks into a state.',
    labels: ['state'],
  },
  runs: { name: 'dragoman_runs', help: 'Tasks running in this process.' },
  storedTasks: { name: 'dragoman_stored_tasks', help: 'Tasks in task stores in memory.' },
  storedBytes: {
    name: 'dragoman_stored_bytes',
    help: 'Approximate size of the tasks in task stores in memory.',
  },
  evictedTasks: {
    name: 'dragoman_evicted_tasks_total',
    help: 'Finished tasks that task stores in memory evicted to make room.',
  },
  pushes: {
    name: 'dragoman_push_deliveries_total',
    help: 'Push notification delivery attempts, by outcome.',
    labels: ['outcome'],
  },
} as const satisfies Record<string, MetricDescriptor>;

/** Upper bounds of the buckets for durations, in seconds: those of the semantic conventions for MCP, and three below. */
export const durationBuckets: readonly number[] = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
];

/** Use of a task store. */
export interface StoreUse {
  readonly tasks: number;
  readonly bytes: number;
  readonly evicted: number;
}

/** Outcome of a delivery attempt of a push notification. */
export type PushOutcome = 'delivered' | 'retried' | 'dropped' | 'refused';

/** Metrics of an agent, its server and its push deliveries. One instance can be shared by several agents. */
export class Metrics {
  /** Registry for additional metrics. */
  readonly registry: Registry;
  readonly requests: MetricFamily<Counter>;
  readonly duration: MetricFamily<Histogram>;
  readonly #runDuration: MetricFamily<Histogram>;
  readonly #limits: MetricFamily<Counter>;
  readonly #tasks: MetricFamily<Counter>;
  readonly #runs: (() => number)[] = [];
  readonly #stores: (() => StoreUse)[] = [];
  readonly #pushes: MetricFamily<Counter>;
  /** Present only if tasks are in a store of several replicas. */
  #replicas: ReplicaMetrics | undefined = undefined;

  constructor(registry: Registry = new Registry()) {
    this.registry = registry;
    this.requests = registry.counter(metricNames.requests);
    this.duration = registry.histogram(metricNames.duration, durationBuckets);
    this.#runDuration = registry.histogram(metricNames.runDuration, durationBuckets);
    this.#limits = registry.counter(metricNames.limits);
    this.#tasks = registry.counter(metricNames.tasks);
    registry.observed(metricNames.runs, 'gauge', () => this.#runs.reduce((sum, read) => sum + read(), 0));
    const sumOf = (member: keyof StoreUse) => (): number =>
      this.#stores.reduce((sum, read) => sum + read()[member], 0);
    registry.observed(metricNames.storedTasks, 'gauge', sumOf('tasks'));
    registry.observed(metricNames.storedBytes, 'gauge', sumOf('bytes'));
    registry.observed(metricNames.evictedTasks, 'counter', sumOf('evicted'));
    this.#pushes = registry.counter(metricNames.pushes);
  }

  countLimitHit(limit: string): void {
    this.#limits.of(limit).add();
  }

  /** Counts a task state transition. Can be passed as a callback. */
  readonly countTaskState = (state: TaskState): void => {
    this.#tasks.of(state).add();
  };

  /** Records a run that has ended. */
  recordRun(agent: string, seconds: number, hasFailed: boolean): void {
    this.#runDuration.of(agent, hasFailed ? 'TASK_FAILED' : '').observe(seconds);
  }

  /** Adds a source to the number of task runs; it is read at each scrape. */
  observeRuns(read: () => number): void {
    this.#runs.push(read);
  }

  /** Adds a task store to the use of task stores, which is read at each scrape, and its replica to those of replicas. */
  observeStore({
    usage,
    replica,
  }: {
    readonly usage?: () => StoreUse;
    readonly replica?: ObservedReplica | undefined;
  }): void {
    if (usage) this.#stores.push(usage);
    if (!replica) return;
    this.#replicas ??= new ReplicaMetrics(this.registry);
    this.#replicas.observe(replica);
  }

  countPush(outcome: PushOutcome): void {
    this.#pushes.of(outcome).add();
  }
}
