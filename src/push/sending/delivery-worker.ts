import type { PushDeliveryState, TaskStore, TaskLog } from '../../store/task-store.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { TaskReducer } from '../../protocol/reduce.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';
import { deliveryDelay, type DeliveryBackoff } from './backoff.ts';
import type { PushClock } from '../clock.ts';
import type { HostLimiter } from './host-limiter.ts';
import { dialectForConfig, isNotifiable, type Notification, writeNotification } from './notification.ts';
import type { DeliveryLogSink } from '../push-options.ts';
import type { SendNotification } from './sender.ts';

/** What all couriers share. */
export interface DeliveryContext {
  readonly ledger: TaskStore;
  readonly clock: PushClock;
  readonly lanes: HostLimiter;
  readonly pauses: DeliveryBackoff;
  readonly maxAttempts: number;
  readonly maxAge: number;
  readonly send: SendNotification;
  readonly random: () => number;
  readonly report: DeliveryLogSink;
  /** A courier begins to work on a letter, or comes to rest. */
  readonly worked: (isWorking: boolean) => void;
}

/** How a courier ended: everything arrived, the webhook is dead, nobody wants it any more, or it was stopped. */
export type DeliveryOutcome = 'finished' | 'dead' | 'gone' | 'stopped';

/**
 * Brings the news of one task to one webhook, one after the other. It holds its place in the log and the letter in its
 * hand, and notes its place in the ledger after each letter that arrived, so that whoever follows it loses nothing.
 */
export class DeliveryWorker {
  readonly owner: string;
  readonly config: PushConfig;
  state: PushDeliveryState;
  readonly ended: Promise<DeliveryOutcome>;
  readonly #host: DeliveryContext;
  #isStopped = false;
  #isWorking = false;
  #follower: AsyncIterator<StreamEvent> | undefined = undefined;
  #attempt: AbortController | undefined = undefined;
  #endPause: (() => void) | undefined = undefined;
  /** The task as of the event in hand, for those who are sent all of it. */
  #fold: TaskReducer | undefined = undefined;

  constructor(host: DeliveryContext, owner: string, config: PushConfig, state: PushDeliveryState) {
    this.#host = host;
    this.owner = owner;
    this.config = config;
    this.state = state;
    this.ended = this.#run();
  }

  /** Ends the work at once; a letter that is on its way is given up. */
  stop(): void {
    this.#isStopped = true;
    this.#attempt?.abort();
    this.#endPause?.();
    void this.#follower?.return?.();
  }

  async #run(): Promise<DeliveryOutcome> {
    for (let faults = 1; ; faults++) {
      try {
        return await this.#carry();
      } catch (error) {
        if (this.#isStopped) return 'stopped';
        const message = 'The ledger failed while a push notification was on its way';
        this.#host.report({ level: 'error', message, taskId: this.config.taskId, error });
        this.#rest();
        await this.#pause(deliveryDelay(faults, this.#host.pauses, this.#host.random));
        if (this.#isStopped) return 'stopped';
      } finally {
        this.#rest();
      }
    }
  }

  async #carry(): Promise<DeliveryOutcome> {
    const { ledger, clock } = this.#host;
    // A pause that a restart interrupted goes on, but not for ever if the clock was put back.
    const { retryAt } = this.state;
    if (retryAt !== undefined)
      await this.#pause(Math.min(this.#host.pauses.maxDelay, Date.parse(retryAt) - clock.now()));
    const log = await ledger.open(this.owner, this.config.taskId);
    if (!log) return 'gone';
    this.#fold = undefined;
    const follower = log.subscribe(this.state.delivered);
    this.#follower = follower;
    const dialect = dialectForConfig(this.config);
    for (;;) {
      if (this.#isStopped) return 'stopped';
      const { done, value: event } = await follower.next();
      if (this.#isStopped) return 'stopped';
      if (done) return this.#finish(log);
      this.#work();
      const task = dialect.version === '1.0' ? undefined : this.#taskAt(event, log);
      const delivered = event.sequence ?? this.state.delivered + 1;
      if (isNotifiable(event, dialect)) {
        const ending = await this.#deliver(writeNotification(this.config, event, () => task ?? log.task()));
        if (ending !== undefined) return ending;
        if (!(await this.#note({ delivered, attempts: 0 }))) return 'gone';
      } else this.state = { delivered, attempts: 0 };
      this.#rest();
    }
  }

  async #finish(log: TaskLog): Promise<DeliveryOutcome> {
    if (!isTerminal(log.state)) return 'stopped';
    await this.#note({ delivered: log.sequence, attempts: 0 });
    return 'finished';
  }

  /**
   * The task as it was at an event. Messages of the caller are no events, so that of a task that is further on they
   * may be missing; the last event always has them.
   */
  #taskAt(event: StreamEvent, log: TaskLog): Task {
    if (event.kind === 'task') this.#fold = new TaskReducer(event.task);
    else this.#fold?.apply(event);
    return this.#fold && event.sequence !== log.sequence ? this.#fold.task() : log.task();
  }

  /** @returns undefined when the letter arrived, else how the courier ends. */
  async #deliver(letter: Notification): Promise<DeliveryOutcome | undefined> {
    const { ledger, lanes, report, pauses, random } = this.#host;
    const { host } = new URL(letter.url);
    for (;;) {
      this.#work();
      const leave = await lanes.acquire(host);
      if (this.#isStopped) {
        leave(false);
        return 'stopped';
      }
      this.#attempt = new AbortController();
      const attempt = await this.#host.send(letter, this.#attempt.signal);
      this.#attempt = undefined;
      leave(attempt.kind === 'failed' && attempt.isHanging);
      if (attempt.kind === 'delivered') return undefined;
      if (this.#isStopped) return 'stopped';
      const { taskId, id } = this.config;
      if (attempt.kind === 'gone') {
        report({ level: 'info', message: `The webhook at ${host} is gone`, taskId });
        await ledger.deletePushConfig(this.owner, taskId, id);
        return 'gone';
      }
      const attempts = this.state.attempts + 1;
      const pause = deliveryDelay(attempts, pauses, random, attempt.retryAfter);
      const ending = await this.#noteFailure(attempts, attempt.error, pause);
      if (ending !== undefined) return ending;
      this.#rest();
      await this.#pause(pause);
      if (this.#isStopped) return 'stopped';
    }
  }

  async #noteFailure(attempts: number, error: string, pause: number): Promise<DeliveryOutcome | undefined> {
    const { clock, maxAttempts, maxAge, report } = this.#host;
    const now = clock.now();
    const { delivered, failingSince = momentOf(now) } = this.state;
    const isDead = attempts >= maxAttempts || now - Date.parse(failingSince) >= maxAge;
    const failing = { delivered, attempts, failingSince, error };
    const next = isDead ? { deadSince: momentOf(now) } : { retryAt: momentOf(now + pause) };
    if (!(await this.#note({ ...failing, ...next }))) return 'gone';
    if (!isDead) return undefined;
    const message = `The webhook at ${new URL(this.config.url).host} is given up (attempts: ${attempts})`;
    report({ level: 'warn', message, taskId: this.config.taskId, error });
    return 'dead';
  }

  async #note(state: PushDeliveryState): Promise<boolean> {
    this.state = state;
    return this.#host.ledger.putDelivery(this.owner, this.config.taskId, this.config.id, state);
  }

  #pause(milliseconds: number): Promise<void> | undefined {
    if (this.#isStopped || milliseconds <= 0) return undefined;
    return new Promise((resolve) => {
      const cancel = this.#host.clock.after(milliseconds, () => this.#endPause?.());
      this.#endPause = () => {
        cancel();
        this.#endPause = undefined;
        resolve();
      };
    });
  }

  #work(): void {
    if (!this.#isWorking) this.#host.worked((this.#isWorking = true));
  }

  #rest(): void {
    if (this.#isWorking) this.#host.worked((this.#isWorking = false));
  }
}

function momentOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
