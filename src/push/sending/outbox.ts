import type { PushDelivery, PushDeliveryState, TaskStore } from '../../store/task-store.ts';
import { unrefClock } from '../../primitives/clock.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { egressPolicy, type EgressPolicy } from '../../egress/egress-policy.ts';
import type { PushClock } from '../clock.ts';
import { DeliveryWorker, type DeliveryContext } from './delivery-worker.ts';
import { HostLimiter } from './host-limiter.ts';
import type { PushOptions, DeliveryLogSink } from '../push-options.ts';
import { checkPushConfig } from './registration.ts';
import { createSender } from './sender.ts';

/**
 * Sends the news of tasks to their webhooks. The ledger is where they wait: each webhook has a courier that follows
 * the log of its task, and none of them is in the way of another or of the task.
 */
export class PushOutbox {
  readonly #ledger: TaskStore;
  readonly #policy: EgressPolicy;
  readonly #clock: PushClock;
  readonly #host: DeliveryContext;
  readonly #pollInterval: number;
  readonly #closeTimeout: number;
  #couriers = new Map<string, DeliveryWorker>();
  /** The webhooks that this outbox gave up. */
  #dead = new Set<string>();
  #stopPolling: (() => void) | undefined = undefined;
  #working = 0;
  #onIdle: (() => void) | undefined = undefined;
  #isClosed = false;

  constructor(ledger: TaskStore, options: PushOptions = {}, report: DeliveryLogSink = () => {}) {
    const { egress, timeout = 15_000, clock = unrefClock } = options;
    this.#ledger = ledger;
    // Nobody reads the answer of a webhook.
    this.#policy = egressPolicy({ timeout, maxBytes: 1_048_576, ...egress });
    this.#clock = clock;
    this.#pollInterval = options.pollInterval ?? 5_000;
    this.#closeTimeout = options.closeTimeout ?? 1_500;
    this.#host = {
      ledger,
      clock,
      report,
      lanes: new HostLimiter(options.maxPerHost ?? 8, options.maxInFlight ?? 256),
      pauses: { minDelay: options.minDelay ?? 1_000, maxDelay: options.maxDelay ?? 15 * 60_000 },
      maxAttempts: options.maxAttempts ?? 20,
      maxAge: options.maxAge ?? 24 * 3_600_000,
      random: options.random ?? Math.random,
      send: createSender(this.#policy, options.signer, () => clock.now(), options.onAttempt),
      worked: (isWorking) => this.#worked(isWorking),
    };
  }

  /**
   * Checks a configuration before it is kept.
   *
   * @throws {@link A2AError} `INVALID_PARAMS`, which names the field and nothing of the network.
   */
  check(config: PushConfig): void {
    checkPushConfig(config, this.#policy);
  }

  /** Sends the news of a task to a webhook from now on. One of the same id is replaced. */
  async add(owner: string, config: PushConfig, state: PushDeliveryState): Promise<void> {
    const key = keyOf(owner, config);
    let { delivered } = state;
    for (let before = this.#couriers.get(key); before; before = this.#couriers.get(key)) {
      before.stop();
      await before.ended;
      // A letter may have arrived while it stopped.
      delivered = Math.max(delivered, before.state.delivered);
    }
    if (this.#isClosed) return;
    this.#dead.delete(key);
    const courier = new DeliveryWorker(this.#host, owner, config, { ...state, delivered });
    this.#couriers.set(key, courier);
    void courier.ended.then((ending) => {
      if (this.#couriers.get(key) === courier) this.#couriers.delete(key);
      if (ending === 'dead') this.#bury(key);
    });
  }

  /** Sends nothing more to a webhook. */
  remove(owner: string, taskId: string, id: string): void {
    const key = keyOf(owner, { taskId, id });
    this.#dead.delete(key);
    this.#couriers.get(key)?.stop();
  }

  /** Takes up what the process before this one left. */
  async resume(deliveries: readonly PushDelivery[]): Promise<void> {
    for (const { owner, config, state } of deliveries) {
      if (state.deadSince !== undefined) this.#bury(keyOf(owner, config));
      else await this.add(owner, config, state);
    }
  }

  /** Waits a little for what is on its way and stops. What did not arrive is sent by the next who resumes. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopPolling?.();
    await this.#idle();
    const couriers = [...this.#couriers.values()];
    for (const courier of couriers) courier.stop();
    await Promise.all(couriers.map(({ ended }) => ended));
    this.#policy.close();
  }

  /** How many webhooks are being served. */
  get size(): number {
    return this.#couriers.size;
  }

  #worked(isWorking: boolean): void {
    this.#working += isWorking ? 1 : -1;
    if (this.#working === 0) this.#onIdle?.();
  }

  async #idle(): Promise<void> {
    let isLate = false;
    const cancel = this.#clock.after(this.#closeTimeout, () => {
      isLate = true;
      this.#onIdle?.();
    });
    for (;;) {
      // Whoever has just been told of an event takes it in hand within this turn.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#working === 0 || isLate) break;
      await new Promise<void>((resolve) => (this.#onIdle = resolve));
    }
    cancel();
  }

  #bury(key: string): void {
    this.#dead.add(key);
    if (this.#isClosed || this.#stopPolling) return;
    this.#stopPolling = this.#clock.after(this.#pollInterval, () => void this.#poll());
  }

  /** Looks whether somebody, perhaps another process, wants a dead one to live. */
  async #poll(): Promise<void> {
    try {
      const deliveries = await this.#ledger.listDeliveries();
      for (const { owner, config, state } of deliveries) {
        const isRevived = state.deadSince === undefined && this.#dead.has(keyOf(owner, config));
        if (isRevived) await this.add(owner, config, state);
      }
      const there = new Set(deliveries.map(({ owner, config }) => keyOf(owner, config)));
      for (const key of this.#dead) if (!there.has(key)) this.#dead.delete(key);
    } catch (error) {
      this.#host.report({
        level: 'error',
        message: 'The ledger does not say what is to be delivered',
        error,
      });
    }
    this.#stopPolling = undefined;
    const [one] = this.#dead;
    if (one !== undefined) this.#bury(one);
  }
}

/** Names a configuration; the lengths keep apart what would read the same when joined. */
function keyOf(owner: string, { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>): string {
  return `${owner.length}:${taskId.length}:${owner}${taskId}${id}`;
}
