import type { Counter, Histogram, MetricDescriptor, Registry } from './registry.ts';

/** Names and help texts of the metrics of replicas. */
const replicaMetricNames = {
  held: {
    name: 'dragoman_replica_held_tasks',
    help: 'Unfinished tasks that this replica holds.',
  },
  takeovers: {
    name: 'dragoman_replica_takeovers_total',
    help: 'Tasks that this replica took over from others.',
  },
  fenced: {
    name: 'dragoman_replica_fenced_writes_total',
    help: 'Changes that were refused because another replica holds the task.',
  },
  wakeUps: {
    name: 'dragoman_replica_wake_up_seconds',
    help: 'Time until a notification of another replica arrived, by the clock of the database.',
  },
  commitTasks: {
    name: 'dragoman_replica_commit_tasks',
    help: 'Tasks whose changes one commit stored.',
  },
  commitDuration: {
    name: 'dragoman_replica_commit_seconds',
    help: 'Time until the database confirmed a commit.',
  },
  commandsSent: {
    name: 'dragoman_replica_commands_sent_total',
    help: 'Commands that this replica sent to the holders of tasks.',
  },
  commandsExecuted: {
    name: 'dragoman_replica_commands_executed_total',
    help: 'Commands of other replicas that this one executed.',
  },
} as const satisfies Record<string, MetricDescriptor>;

const seconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];
const sizes: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** What happened on a replica, for metrics. */
export type ReplicaEvent =
  /** One statement stored changes of tasks. */
  | { readonly kind: 'commit'; readonly tasks: number; readonly milliseconds: number }
  /** A change was refused because another replica holds the task. */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'takeover'; readonly tasks: number }
  /** A notification of another replica arrived. */
  | { readonly kind: 'wake-up'; readonly milliseconds: number }
  | { readonly kind: 'command-sent' }
  | { readonly kind: 'command-executed' };

/** A replica that is observed. */
export interface ObservedReplica {
  heldTasks(): number;
  onEvent?: ((event: ReplicaEvent) => void) | undefined;
}

/** Metrics of the replicas in this process. */
export class ReplicaMetrics {
  readonly #replicas: ObservedReplica[] = [];
  readonly #takeovers: Counter;
  readonly #fenced: Counter;
  readonly #wakeUps: Histogram;
  readonly #commitTasks: Histogram;
  readonly #commitDuration: Histogram;
  readonly #commandsSent: Counter;
  readonly #commandsExecuted: Counter;

  constructor(registry: Registry) {
    registry.observed(replicaMetricNames.held, 'gauge', () =>
      this.#replicas.reduce((sum, replica) => sum + replica.heldTasks(), 0),
    );
    this.#takeovers = registry.counter(replicaMetricNames.takeovers).of();
    this.#fenced = registry.counter(replicaMetricNames.fenced).of();
    this.#wakeUps = registry.histogram(replicaMetricNames.wakeUps, seconds).of();
    this.#commitTasks = registry.histogram(replicaMetricNames.commitTasks, sizes).of();
    this.#commitDuration = registry.histogram(replicaMetricNames.commitDuration, seconds).of();
    this.#commandsSent = registry.counter(replicaMetricNames.commandsSent).of();
    this.#commandsExecuted = registry.counter(replicaMetricNames.commandsExecuted).of();
  }

  observe(replica: ObservedReplica): void {
    this.#replicas.push(replica);
    replica.onEvent = (event) => this.#count(event);
  }

  #count(event: ReplicaEvent): void {
    switch (event.kind) {
      case 'commit':
        this.#commitTasks.observe(event.tasks);
        this.#commitDuration.observe(event.milliseconds / 1_000);
        return;
      case 'fenced':
        this.#fenced.add();
        return;
      case 'takeover':
        this.#takeovers.add(event.tasks);
        return;
      case 'wake-up':
        this.#wakeUps.observe(event.milliseconds / 1_000);
        return;
      case 'command-sent':
        this.#commandsSent.add();
        return;
      case 'command-executed':
        this.#commandsExecuted.add();
    }
  }
}
