import type { PushDelivery, PushDeliveryState, TaskStore } from '../../store/task-store.ts';
import { type Clock, nextTurn, unrefClock } from '../../primitives/clock.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { egressPolicy, type EgressPolicy } from '../../egress/egress-policy.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { DeliveryWorker, type DeliveryContext } from './delivery-worker.ts';
import { HostLimiter } from './host-limiter.ts';
import type { PushOptions, DeliveryLogSink } from '../push-options.ts';
import { checkPushConfig } from './registration.ts';
import { createSender } from './sender.ts';
import { LazyTracing } from '../../tracing/tracing.ts';

/**
 * Delivers push notifications. The task store is the queue: one delivery worker per webhook subscribes to the task log.
 * Workers do not block each other or the task.
 */
export class PushOutbox {
  readonly #taskStore: TaskStore;
  readonly #policy: EgressPolicy;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #context: DeliveryContext;
  readonly #pollInterval: number;
  readonly #closeTimeout: number;
  #workers = new Map<string, DeliveryWorker>();
  /** Keys of dead letters. */
  #deadLetters = new Set<string>();
  #stopPolling: (() => void) | undefined = undefined;
  #busyWorkers = 0;
  #onIdle: (() => void) | undefined = undefined;
  #isClosed = false;

  constructor(taskStore: TaskStore, options: PushOptions = {}, report: DeliveryLogSink = () => {}) {
    const { egress, timeout = 15_000, clock = unrefClock } = options;
    this.#taskStore = taskStore;
    // Response bodies of webhooks are ignored.
    this.#policy = egressPolicy({ timeout, maxBytes: 1_048_576, ...egress });
    this.#clock = clock;
    this.#pollInterval = options.pollInterval ?? 5_000;
    this.#closeTimeout = options.closeTimeout ?? 1_500;
    this.#context = {
      taskStore,
      clock,
      report,
      limiter: new HostLimiter(options.maxPerHost ?? 8, options.maxInFlight ?? 256),
      backoff: { minDelay: options.minDelay ?? 1_000, maxDelay: options.maxDelay ?? 15 * 60_000 },
      maxAttempts: options.maxAttempts ?? 20,
      maxAge: options.maxAge ?? 24 * 3_600_000,
      random: options.random ?? Math.random,
      send: createSender(this.#policy, {
        signer: options.signer,
        now: () => clock.now(),
        onAttempt: options.onAttempt,
        tracing: new LazyTracing(options.tracing),
      }),
      onBusyChange: (isBusy) => this.#onBusyChange(isBusy),
    };
  }

  /**
   * Validates a configuration before it is stored.
   *
   * @throws {@link A2AError} `INVALID_PARAMS`, which names the field and reveals nothing about the network.
   */
  check(config: PushConfig): void {
    checkPushConfig(config, this.#policy);
  }

  /** Starts the delivery to a webhook. Replaces the worker of the same configuration. */
  async add(owner: string, config: PushConfig, state: PushDeliveryState): Promise<void> {
    const key = configKey(owner, config);
    let { delivered } = state;
    for (let previous = this.#workers.get(key); previous; previous = this.#workers.get(key)) {
      previous.stop();
      await previous.ended;
      // A notification may have been delivered while it stopped.
      delivered = Math.max(delivered, previous.state.delivered);
    }
    if (this.#isClosed) return;
    this.#deadLetters.delete(key);
    const worker = new DeliveryWorker(this.#context, owner, config, { ...state, delivered });
    this.#workers.set(key, worker);
    void worker.ended.then((outcome) => {
      if (this.#workers.get(key) === worker) this.#workers.delete(key);
      if (outcome === 'dead') this.#addDeadLetter(key);
    });
  }

  /** Stops the delivery to a webhook. */
  remove(owner: string, taskId: string, id: string): void {
    const key = configKey(owner, { taskId, id });
    this.#deadLetters.delete(key);
    this.#workers.get(key)?.stop();
  }

  /** Resumes deliveries of an earlier process, and those of this process that have no worker. */
  async resume(deliveries: readonly PushDelivery[]): Promise<void> {
    const takenOver = deliveries.filter(({ isHeld }) => !isHeld);
    const missing = this.#withoutWorker(deliveries.filter(({ isHeld }) => isHeld));
    for (const { owner, config, state } of [...takenOver, ...(await this.#readAgain(missing))]) {
      const key = configKey(owner, config);
      if (state.deadSince !== undefined) this.#addDeadLetter(key);
      else await this.add(owner, config, state);
    }
  }

  /** Waits up to `closeTimeout` for current deliveries and stops. `resume()` of a later process sends the rest. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopPolling?.();
    await this.#waitUntilIdle();
    const workers = [...this.#workers.values()];
    for (const worker of workers) worker.stop();
    await Promise.all(workers.map(({ ended }) => ended));
    this.#policy.close();
  }

  /** Number of active delivery workers. */
  get size(): number {
    return this.#workers.size;
  }

  #onBusyChange(isBusy: boolean): void {
    this.#busyWorkers += isBusy ? 1 : -1;
    if (this.#busyWorkers === 0) this.#onIdle?.();
  }

  async #waitUntilIdle(): Promise<void> {
    let hasTimedOut = false;
    const cancel = this.#clock.after(this.#closeTimeout, () => {
      hasTimedOut = true;
      this.#onIdle?.();
    });
    for (;;) {
      // A worker that has just received an event becomes busy within this event-loop turn.
      await nextTurn();
      if (this.#busyWorkers === 0 || hasTimedOut) break;
      await new Promise<void>((resolve) => (this.#onIdle = resolve));
    }
    cancel();
  }

  #addDeadLetter(key: string): void {
    this.#deadLetters.add(key);
    if (this.#isClosed || this.#stopPolling) return;
    this.#stopPolling = this.#clock.after(this.#pollInterval, () => void this.#poll());
  }

  #withoutWorker(deliveries: readonly PushDelivery[]): PushDelivery[] {
    return deliveries.filter(({ owner, config }) => !this.#workers.has(configKey(owner, config)));
  }

  /**
   * Returns the outstanding ones with their current cursors: a worker may have delivered and ended since they were read. If
   * they cannot be read, a repeated notification is better than a lost one.
   */
  async #readAgain(deliveries: readonly PushDelivery[]): Promise<readonly PushDelivery[]> {
    if (deliveries.length === 0) return [];
    const keys = new Set(deliveries.map(({ owner, config }) => configKey(owner, config)));
    let current: readonly PushDelivery[];
    try {
      current = await this.#taskStore.listDeliveries();
    } catch {
      current = deliveries;
    }
    return this.#withoutWorker(current.filter(({ owner, config }) => keys.has(configKey(owner, config))));
  }

  /** Checks whether a dead letter was retried manually, perhaps by another process. */
  async #poll(): Promise<void> {
    try {
      const deliveries = await this.#taskStore.listDeliveries();
      for (const { owner, config, state } of deliveries) {
        const isRetried = state.deadSince === undefined && this.#deadLetters.has(configKey(owner, config));
        if (isRetried) await this.add(owner, config, state);
      }
      const present = new Set(deliveries.map(({ owner, config }) => configKey(owner, config)));
      for (const key of this.#deadLetters) if (!present.has(key)) this.#deadLetters.delete(key);
    } catch (error) {
      this.#context.report({ level: 'error', message: 'Cannot list push deliveries', error });
    }
    this.#stopPolling = undefined;
    const [one] = this.#deadLetters;
    if (one !== undefined) this.#addDeadLetter(one);
  }
}

function configKey(owner: string, { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>): string {
  return compositeKey(owner, taskId, id);
}
