import { randomUUID } from 'node:crypto';
import { backoffDelay } from '../../../primitives/backoff.ts';
import type { Clock } from '../../../primitives/clock.ts';
import { LruSet } from '../../../primitives/lru-map.ts';
import { databaseNow } from './replica.ts';
import type { PostgresClient, PostgresConnection } from '../connection.ts';

/** Keys in one notification: its payload may have 8,000 bytes. */
const maxKeys = 400;

/** Tasks of other replicas' subscribers that are remembered. Subscribers of forgotten ones wait for the next poll. */
const maxFollowed = 100_000;

const reconnectBackoff = { minDelay: 100, maxDelay: 5_000, jitter: 'equal' } as const;

/** What a notification announces. Its text is the time of the database at which it was sent, a space and this as JSON. */
interface WakeUp {
  /** Id of the sender, which receives its own notifications as well. */
  readonly from?: string;
  /** Tasks that changed, by key; undefined: any task may have changed. */
  readonly tasks?: readonly number[];
  /** Tasks that have subscribers at the sender, by key: their holders announce later changes. */
  readonly follows?: readonly number[];
  /** True if there may be commands or tasks to take over. */
  readonly hasWork?: boolean;
  /** Id of a self-probe. */
  readonly probe?: string;
}

/** Collaborators of {@link WakeUps}. */
export interface WakeUpsContext {
  readonly channel: string;
  readonly clock: Clock;
  /** Returns true if this replica may have changed the task lately. */
  isKnown(key: number): boolean;
  /** Called with the tasks that other replicas changed; undefined: any task may have changed. */
  onTasks(keys: readonly number[] | undefined): void;
  /** Called when there may be commands or tasks to take over. */
  onWork(): void;
  /** Called when another replica has begun to receive notifications. It does not know yet what this one follows. */
  onListener(): void;
  /** Called with the time at which another replica sent a notification that arrived. */
  onArrival(sentAt: number): void;
  /** Called with true when notifications arrive, and with false when they do not. */
  onStateChange(isActive: boolean): void;
}

/**
 * Notifications between replicas (`LISTEN` and `NOTIFY`). They make changes visible sooner; the task store also reads
 * periodically, so a lost notification costs time and nothing else. They are sent after a commit, because `NOTIFY` inside of
 * a transaction takes a lock of the whole database. A replica tells the others which of their tasks its subscribers follow,
 * and only changes of those are announced: otherwise each replica would receive the changes of all tasks.
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
  /** Keys of the tasks that other replicas follow. */
  readonly #followed = new LruSet<number>({ maxEntries: maxFollowed });
  /** Keys that wait for the notification on its way. */
  #queued: Set<number> | undefined = undefined;
  /** Keys that this replica follows and has not yet told the others. */
  #queuedFollows: number[] = [];
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

  /** Announces those of the changed tasks that other replicas follow. */
  announce(keys: readonly number[]): void {
    // A replica that receives nothing does not know what the others follow.
    const followed = this.isActive ? keys.filter((key) => this.#followed.has(key)) : keys;
    if (followed.length > 0) this.#queue(followed);
  }

  /** Tells the other replicas that this one has subscribers of a task. */
  follow(key: number): void {
    if (!this.#client) return;
    this.#queuedFollows.push(key);
    void this.#send();
  }

  #queue(keys: readonly number[]): void {
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
      while (this.#queued || this.#hasQueuedWork || this.#queuedFollows.length > 0) {
        const follows = this.#queuedFollows.splice(0, maxKeys / 2);
        const tasks = this.#takeQueued(maxKeys - follows.length);
        const hasWork = this.#hasQueuedWork;
        this.#hasQueuedWork = false;
        await this.#notify({ tasks, follows, hasWork });
      }
    } catch {
      // Periodic reads replace the notification.
    } finally {
      this.#isSending = false;
    }
  }

  /** @returns undefined if more tasks than `max` changed */
  #takeQueued(max: number): readonly number[] | undefined {
    const keys = [...(this.#queued ?? [])];
    this.#queued = undefined;
    return keys.length > max ? undefined : keys;
  }

  async #notify(wakeUp: WakeUp): Promise<void> {
    // The database adds its time, because clocks of replicas may differ.
    const text = `select pg_notify($1, ${databaseNow} || ' ' || $2)`;
    const body = JSON.stringify({ from: this.#id, ...wakeUp });
    await this.#connection.queryAtOnce(text, [this.#context.channel, body]);
  }

  #receive(payload: string): void {
    const separator = payload.indexOf(' ');
    const { from, tasks, follows = [], hasWork, probe } = parseWakeUp(payload.slice(separator + 1));
    if (from !== undefined && from !== this.#id) this.#context.onArrival(Number(payload.slice(0, separator)));
    if (probe !== undefined) {
      if (probe !== this.#probe) {
        if (from !== this.#id) this.#context.onListener();
        return;
      }
      this.#probe = undefined;
      this.#cancel?.();
      this.#setActive(true);
      return;
    }
    if (from === this.#id) return;
    for (const key of follows) this.#followed.add(key);
    // What was committed before this arrived was not announced.
    const known = follows.filter((key) => this.#context.isKnown(key));
    if (known.length > 0) this.#queue(known);
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
