import type { PushDeliveryState, TaskStore, TaskLog } from '../../store/task-store.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import { isTerminal, type Task, type TraceContext } from '../../protocol/task.ts';
import { webhookRetryDelay, type RetryBackoff } from './retry-delay.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { HostLimiter } from './host-limiter.ts';
import { dialectForConfig, isNotifiable, type Notification, writeNotification } from './notification.ts';
import type { DeliveryLogSink } from '../push-options.ts';
import type { SendNotification } from './sender.ts';

/** Collaborators of all delivery workers. */
export interface DeliveryContext {
  readonly taskStore: TaskStore;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly limiter: HostLimiter;
  readonly backoff: RetryBackoff;
  readonly maxAttempts: number;
  readonly maxAge: number;
  readonly send: SendNotification;
  readonly random: () => number;
  readonly report: DeliveryLogSink;
  /** Called when a worker starts or stops processing a notification. */
  readonly onBusyChange: (isBusy: boolean) => void;
}

/**
 * How a worker ended. `dead`: dead letter; `gone`: the webhook, the configuration or the task no longer exists, or another
 * process delivers.
 */
export type DeliveryOutcome = 'finished' | 'dead' | 'gone' | 'stopped';

/**
 * Delivers the notifications of one task to one webhook in order, at least once. It stores the cursor after each
 * successful delivery, so that a restarted worker continues without loss.
 */
export class DeliveryWorker {
  readonly owner: string;
  readonly config: PushConfig;
  state: PushDeliveryState;
  readonly ended: Promise<DeliveryOutcome>;
  readonly #context: DeliveryContext;
  #isStopped = false;
  #isBusy = false;
  #events: AsyncIterator<StreamEvent> | undefined = undefined;
  #currentAttempt: AbortController | undefined = undefined;
  #cancelDelay: (() => void) | undefined = undefined;
  /** The task at the current event, for versions whose notifications contain the whole task. */
  #reducer: TaskReducer | undefined = undefined;

  constructor(context: DeliveryContext, owner: string, config: PushConfig, state: PushDeliveryState) {
    this.#context = context;
    this.owner = owner;
    this.config = config;
    this.state = state;
    this.ended = this.#run();
  }

  /** Stops at once and aborts the current attempt. */
  stop(): void {
    this.#isStopped = true;
    this.#currentAttempt?.abort();
    this.#cancelDelay?.();
    void this.#events?.return?.();
  }

  async #run(): Promise<DeliveryOutcome> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.#deliverAll();
      } catch (error) {
        if (this.#isStopped) return 'stopped';
        const message = 'Task store error during a push delivery';
        this.#context.report({ level: 'error', message, taskId: this.config.taskId, error });
        this.#setIdle();
        await this.#delay(webhookRetryDelay(failures, this.#context.backoff, this.#context.random));
        if (this.#isStopped) return 'stopped';
      } finally {
        this.#setIdle();
      }
    }
  }

  async #deliverAll(): Promise<DeliveryOutcome> {
    const { taskStore, clock } = this.#context;
    // Continues a retry delay after a restart. The bound applies if the clock was set back.
    const { retryAt } = this.state;
    if (retryAt !== undefined)
      await this.#delay(Math.min(this.#context.backoff.maxDelay, Date.parse(retryAt) - clock.now()));
    const log = await taskStore.open(this.owner, this.config.taskId);
    if (!log) return 'gone';
    this.#reducer = undefined;
    const dialect = dialectForConfig(this.config);
    const events = dialect.version === '1.0' ? log.subscribe(this.state.delivered) : await this.#replay(log);
    this.#events = events;
    for (;;) {
      if (this.#isStopped) return 'stopped';
      const { done, value: event } = await events.next();
      if (this.#isStopped) return 'stopped';
      if (done) return this.#finish(log);
      const task = dialect.version === '1.0' ? undefined : this.#taskAt(event, log);
      const delivered = event.sequence ?? this.state.delivered + 1;
      if (delivered <= this.state.delivered) continue;
      this.#setBusy();
      if (isNotifiable(event, dialect)) {
        const notification = writeNotification(this.config, event, () => task ?? log.task());
        const outcome = await this.#deliver(notification, () => log.task().trace);
        if (outcome !== undefined) return outcome;
        if (!(await this.#storeState({ delivered, attempts: 0 }))) return 'gone';
      } else this.state = { delivered, attempts: 0 };
      this.#setIdle();
    }
  }

  /**
   * Returns the events from the first one, because notifications before 1.0 contain the task at their event. If the first
   * one is no longer stored, returns the undelivered events.
   */
  async #replay(log: TaskLog): Promise<AsyncIterableIterator<StreamEvent>> {
    const all = log.subscribe(0);
    if (this.state.delivered === 0) return all;
    const { done, value: first } = await all.next();
    if (!done && first.sequence === 1) {
      this.#taskAt(first, log);
      return all;
    }
    await all.return?.();
    return log.subscribe(this.state.delivered);
  }

  async #finish(log: TaskLog): Promise<DeliveryOutcome> {
    if (!isTerminal(log.state)) return 'stopped';
    await this.#storeState({ delivered: log.sequence, attempts: 0 });
    return 'finished';
  }

  /**
   * Returns the task at an event. Input messages are not events: an older task may lack them, the task at the last event
   * never does.
   */
  #taskAt(event: StreamEvent, log: TaskLog): Task {
    if (event.kind === 'task') this.#reducer = new TaskReducer(event.task);
    else this.#reducer?.apply(event);
    return this.#reducer && event.sequence !== log.sequence ? this.#reducer.task() : log.task();
  }

  /** Sends a notification until it is delivered. @returns undefined, or the outcome that ends the worker. */
  async #deliver(
    notification: Notification,
    trace: () => TraceContext | undefined,
  ): Promise<DeliveryOutcome | undefined> {
    const { taskStore, limiter, report, backoff, random } = this.#context;
    const { host } = new URL(notification.url);
    for (;;) {
      this.#setBusy();
      const release = await limiter.acquire(host);
      const end = await this.#endOf().catch((error: unknown) => {
        release(false);
        throw error;
      });
      if (end) {
        release(false);
        return end;
      }
      this.#currentAttempt = new AbortController();
      const origin = { taskId: this.config.taskId, resends: this.state.attempts, trace };
      const attempt = await this.#context.send(notification, this.#currentAttempt.signal, origin);
      this.#currentAttempt = undefined;
      release(attempt.kind === 'failed' && attempt.isHanging);
      if (attempt.kind === 'delivered') return undefined;
      if (this.#isStopped) return 'stopped';
      const { taskId, id } = this.config;
      if (attempt.kind === 'gone') {
        report({ level: 'info', message: `Webhook removed: ${host} responded 410 Gone`, taskId });
        await taskStore.deletePushConfig(this.owner, taskId, id);
        return 'gone';
      }
      const attempts = this.state.attempts + 1;
      const delay = webhookRetryDelay(attempts, backoff, random, attempt.retryAfter);
      const outcome = await this.#storeFailure(attempts, attempt.error, delay);
      if (outcome !== undefined) return outcome;
      this.#setIdle();
      await this.#delay(delay);
      if (this.#isStopped) return 'stopped';
    }
  }

  /** Returns the outcome if there must be no more attempts. */
  async #endOf(): Promise<DeliveryOutcome | undefined> {
    if (this.#isStopped) return 'stopped';
    return (await this.#isConfigured()) ? undefined : 'gone';
  }

  /** Returns false if another process has deleted or replaced the configuration, or delivers to the webhook. */
  async #isConfigured(): Promise<boolean> {
    const { taskStore } = this.#context;
    if (!taskStore.isShared) return true;
    const { taskId, id } = this.config;
    const current = taskStore.findHeldPushConfig
      ? await taskStore.findHeldPushConfig(this.owner, taskId, id)
      : (await taskStore.listPushConfigs(this.owner, taskId)).find((each) => each.id === id);
    const credentials = current?.authentication?.credentials;
    return (
      current?.url === this.config.url &&
      current.token === this.config.token &&
      credentials === this.config.authentication?.credentials
    );
  }

  async #storeFailure(attempts: number, error: string, delay: number): Promise<DeliveryOutcome | undefined> {
    const { clock, maxAttempts, maxAge, report } = this.#context;
    const now = clock.now();
    const { delivered, failingSince = formatTime(now) } = this.state;
    const isDead = attempts >= maxAttempts || now - Date.parse(failingSince) >= maxAge;
    const failing = { delivered, attempts, failingSince, error };
    const next = isDead ? { deadSince: formatTime(now) } : { retryAt: formatTime(now + delay) };
    if (!(await this.#storeState({ ...failing, ...next }))) return 'gone';
    if (!isDead) return undefined;
    const message = `Dead letter: webhook at ${new URL(this.config.url).host} failed (attempts: ${attempts})`;
    report({ level: 'warn', message, taskId: this.config.taskId, error });
    return 'dead';
  }

  async #storeState(state: PushDeliveryState): Promise<boolean> {
    this.state = state;
    return this.#context.taskStore.putDelivery(this.owner, this.config.taskId, this.config.id, state);
  }

  #delay(milliseconds: number): Promise<void> | undefined {
    if (this.#isStopped || milliseconds <= 0) return undefined;
    return new Promise((resolve) => {
      const cancel = this.#context.clock.after(milliseconds, () => this.#cancelDelay?.());
      this.#cancelDelay = () => {
        cancel();
        this.#cancelDelay = undefined;
        resolve();
      };
    });
  }

  #setBusy(): void {
    if (!this.#isBusy) this.#context.onBusyChange((this.#isBusy = true));
  }

  #setIdle(): void {
    if (this.#isBusy) this.#context.onBusyChange((this.#isBusy = false));
  }
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
