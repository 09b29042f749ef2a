import { randomUUID } from 'node:crypto';
import { backoffDelay } from '../../../primitives/backoff.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { databaseNow } from './replica.ts';
import type { PostgresClient, PostgresConnection } from '../connection.ts';

/** Keys in one notification: its payload may have 8,000 bytes. */
const maxKeys = 400;

const reconnectBackoff = { minDelay: 100, maxDelay: 5_000, jitter: 'equal' } as const;

/** What a notification announces. Its text is the time of the database at which it was sent, a space and this as JSON. */
interface WakeUp {
  /** Id of the sender, which receives its own notifications as well. */
  readonly from?: string;
  /** Tasks that changed, by key; undefined: any task may have changed. */
  readonly tasks?: readonly number[];
  /** True if there may be commands or tasks to take over. */
  readonly hasWork?: boolean;
  /** Id of a self-probe. */
  readonly probe?: string;
}

/** Collaborators of {@link WakeUps}. */
export interface WakeUpsContext {
  readonly channel: string;
  readonly clock: Clock;
  /** Called with the tasks that other replicas changed; undefined: any task may have changed. */
  onTasks(keys: readonly number[] | undefined): void;
  /** Called when there may be commands or tasks to take over. */
  onWork(): void;
  /** Called with the time at which another replica sent a notification that arrived. */
  onArrival(sentAt: number): void;
  /** Called with true when notifications arrive, and with false when they do not. */
  onStateChange(isActive: boolean): void;
}

/**
 * Notifications between replicas (`LISTEN` and `NOTIFY`). They make changes visible sooner; the task store also reads
 * periodically, so a lost notification costs time and nothing else. They are sent after a commit, because `NOTIFY` inside of
 * a transaction takes a lock of the whole database.
 */
export class WakeUps {
  readonly #connection: PostgresConnection;
  readonly #context: WakeUpsContext;
  readonly #id = randomUUID();
  #client: PostgresClient | undefined = undefined;
  #isActive: boolean | undefined = undefined;
  #isClosed = false;
  #failures = 0;
  #probe: string | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;
  /** Keys that wait for the notification on its way. */
  #queued: Set<number> | undefined = undefined;
  #isSending = false;
  #hasQueuedWork = false;

  constructor(connection: PostgresConnection, context: WakeUpsContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** True if a notification to itself has arrived on the current connection. */
  get isActive(): boolean {
    return this.#isActive ?? false;
  }

  /** Listens, and checks that notifications arrive: some connection poolers swallow them without an error. */
  async start(): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.#connection.connect();
      if (this.#isClosed) {
        client.release(true);
        return;
      }
      this.#client = client;
      client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
      const listening = client;
      client.on('error', () => this.#lost(listening));
      await client.query({ text: `listen "${this.#context.channel}"`, values: [] });
      this.#failures = 0;
      this.#probe = `${this.#id} ${Math.random()}`;
      await this.#notify({ probe: this.#probe });
      if (this.#isClosed) return;
      this.#cancel = this.#context.clock.after(1_000, () => {
        if (this.#probe !== undefined) this.#setActive(false);
      });
    } catch {
      this.#lost(client);
    }
  }

  /** Announces changed tasks to other replicas. */
  announce(keys: readonly number[]): void {
    this.#queued ??= new Set();
    for (const key of keys) this.#queued.add(key);
    void this.#send();
  }

  /** Announces commands, or tasks to take over. */
  announceWork(): void {
    this.#hasQueuedWork = true;
    void this.#send();
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    while (this.#isSending) await new Promise((resolve) => setImmediate(resolve));
    this.#client?.release(true);
    this.#client = undefined;
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#queued || this.#hasQueuedWork) {
        const tasks = this.#queued && (this.#queued.size > maxKeys ? undefined : [...this.#queued]);
        const hasWork = this.#hasQueuedWork;
        const hasTasks = this.#queued !== undefined;
        this.#queued = undefined;
        this.#hasQueuedWork = false;
        await this.#notify({ ...(hasTasks ? { tasks } : { tasks: [] }), hasWork });
      }
    } catch {
      // Periodic reads replace the notification.
    } finally {
      this.#isSending = false;
    }
  }

  async #notify(wakeUp: WakeUp): Promise<void> {
    // The database adds its time, because clocks of replicas may differ.
    const text = `select pg_notify($1, ${databaseNow} || ' ' || $2)`;
    const body = JSON.stringify({ from: this.#id, ...wakeUp });
    await this.#connection.queryAtOnce(text, [this.#context.channel, body]);
  }

  #receive(payload: string): void {
    const separator = payload.indexOf(' ');
    const { from, tasks, hasWork, probe } = parseWakeUp(payload.slice(separator + 1));
    if (from !== undefined && from !== this.#id) this.#context.onArrival(Number(payload.slice(0, separator)));
    if (probe !== undefined) {
      if (probe !== this.#probe) return;
      this.#probe = undefined;
      this.#cancel?.();
      this.#setActive(true);
      return;
    }
    if (from === this.#id) return;
    if (tasks?.length !== 0) this.#context.onTasks(tasks);
    if (hasWork) this.#context.onWork();
  }

  #setActive(isActive: boolean): void {
    if (this.#isActive === isActive) return;
    this.#isActive = isActive;
    this.#context.onStateChange(isActive);
  }

  #lost(client: PostgresClient | undefined): void {
    if (client && client !== this.#client) return;
    this.#client = undefined;
    this.#cancel?.();
    client?.release(true);
    if (this.#isClosed) return;
    this.#setActive(false);
    const delay = backoffDelay(this.#failures++, reconnectBackoff);
    this.#cancel = this.#context.clock.after(delay, () => void this.start());
  }
}

function parseWakeUp(payload: string): WakeUp {
  try {
    return JSON.parse(payload) as WakeUp;
  } catch {
    // Sent by another program on the same channel: any task may have changed.
    return {};
  }
}
