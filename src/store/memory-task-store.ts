/**
 * The default task store: tasks in the memory of the process.
 *
 * @module
 */
import { A2AError, taskNotFound } from '../protocol/errors.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import { isTerminal, type Task } from '../protocol/task.ts';
import type { PushDelivery, TaskStore, TaskLog } from './task-store.ts';
import { copyingTaskStore } from './copying-task-store.ts';
import { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';
import { PageTokens } from './page-tokens.ts';
import {
  countUndelivered,
  OwnerTasks,
  type TaskRecord,
  type PushConfigRecord,
  materializeTask,
} from './owner-tasks.ts';

/** How many times `maxEvents` a running task retains for webhooks that have not received them. */
const maxUndeliveredFactor = 10;

/** Additional milliseconds for which `expire()` keeps a task while a webhook has not received all of its events. */
const maxUndeliveredAge = 7 * 24 * 3_600_000;

/** Options of {@link memoryTaskStore}. */
export interface MemoryTaskStoreOptions {
  /**
   * Maximum number of tasks. Above it, the tasks that finished first are evicted.
   * @defaultValue 250,000
   */
  maxTasks?: number;
  /**
   * Milliseconds for which a finished task is retained.
   * @defaultValue 7 days
   */
  maxAge?: number;
  /**
   * Maximum number of retained events of all finished tasks, for subscribers that reconnect. The task that finished
   * last keeps all of its events; of older tasks only the final state is retained. Tasks whose webhooks have not received
   * all events keep them and do not count.
   * @defaultValue 5,000
   */
  maxReplayableEvents?: number;
  /**
   * Maximum number of retained events of one running task. A subscriber that is further behind gets a snapshot. Events
   * that a webhook has not received are retained up to 10 times this number.
   * @defaultValue 10,000
   */
  maxEvents?: number;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A log with a reference to the record of its task. */
class RecordedTaskLog extends InMemoryTaskLog {
  record: TaskRecord | undefined = undefined;
}

/** Creates a task store in memory, bounded by count and age. */
export function memoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  return copyingTaskStore(new MemoryTaskStore(options));
}

class MemoryTaskStore implements TaskStore, LogBackend {
  #owners = new Map<string, OwnerTasks>();
  #touched = 0;
  #count = 0;
  /** Finished tasks in order of completion. Those before `#evicted` are deleted, those before `#archived` have no log. */
  #finished: (TaskRecord | undefined)[] = [];
  #evicted = 0;
  #archived = 0;
  /** Number of events retained by finished tasks that still have a log. */
  #replayable = 0;
  readonly #pageTokens = new PageTokens();
  readonly #maxTasks: number;
  readonly #maxAge: number;
  readonly #maxReplayable: number;
  readonly #maxEvents: number;
  readonly #now: () => number;

  constructor(options: MemoryTaskStoreOptions) {
    this.#maxTasks = options.maxTasks ?? 250_000;
    this.#maxAge = options.maxAge ?? 7 * 24 * 3_600_000;
    this.#maxReplayable = options.maxReplayableEvents ?? 5_000;
    this.#maxEvents = options.maxEvents ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  create(owner: string, task: Task, messageId?: string): TaskLog {
    let ownerTasks = this.#owners.get(owner);
    if (!ownerTasks) this.#owners.set(owner, (ownerTasks = new OwnerTasks(owner)));
    if (ownerTasks.tasks.has(task.id))
      throw new A2AError('CONFLICT', undefined, { details: { taskId: task.id } });
    const log = new RecordedTaskLog(this, owner, task);
    const record: TaskRecord = {
      touched: ++this.#touched,
      ownerTasks,
      id: task.id,
      contextId: task.contextId,
      siblings: undefined,
      state: task.status.state,
      changedAt: this.#now(),
      log,
      task: undefined,
      sequence: 1,
      messageId,
      configs: undefined,
      isHeld: false,
    };
    log.record = record;
    ownerTasks.tasks.set(task.id, record);
    if (messageId !== undefined) ownerTasks.byMessage.set(messageId, task.id);
    ownerTasks.add(record);
    this.#count++;
    if (isTerminal(task.status.state)) this.#finish(record);
    this.#makeRoom();
    return log;
  }

  open(owner: string, id: string): TaskLog | undefined {
    const record = this.#owners.get(owner)?.tasks.get(id);
    if (!record) return undefined;
    return record.log ?? new InMemoryTaskLog(this, owner, materializeTask(record), record.sequence);
  }

  findByMessageId(owner: string, messageId: string): string | undefined {
    return this.#owners.get(owner)?.byMessage.get(messageId);
  }

  list: TaskStore['list'] = (owner, request) =>
    (this.#owners.get(owner) ?? new OwnerTasks(owner)).list(request, this.#pageTokens);

  listUnfinished: TaskStore['listUnfinished'] = () => {
    const unfinished: { owner: string; id: string }[] = [];
    for (const ownerTasks of this.#owners.values()) {
      for (const { id, state } of ownerTasks.tasks.values()) {
        if (state === 'submitted' || state === 'working') unfinished.push({ owner: ownerTasks.owner, id });
      }
    }
    return unfinished;
  };

  expire(before: Date): number {
    const time = before.getTime();
    return this.#evictWhile(
      (record) => record.changedAt < time,
      (record) => record.changedAt >= time - maxUndeliveredAge && countUndelivered(record) > 0,
    );
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    log.publish();
    const { record } = log as RecordedTaskLog;
    if (!record) return;
    if (log.retainedCount > this.#maxEvents * 2) {
      const undelivered = Math.min(countUndelivered(record), this.#maxEvents * maxUndeliveredFactor);
      log.trim(Math.max(this.#maxEvents, undelivered));
    }
    if (change.kind === 'status' || change.kind === 'task') this.#move(record, log);
  }

  whenPersisted(): undefined {
    return undefined;
  }

  replay(): undefined {
    return undefined;
  }

  putPushConfig: TaskStore['putPushConfig'] = (owner, config, delivered = 0) => {
    const record = this.#owners.get(owner)?.tasks.get(config.taskId);
    if (!record) throw taskNotFound(config.taskId);
    const existing = this.#findPushConfig(owner, config.taskId, config.id);
    const state = { delivered: existing?.state.delivered ?? delivered, attempts: 0 };
    if (existing) Object.assign(existing, { config, state });
    else (record.configs ??= []).push({ config, state });
    return state;
  };

  listPushConfigs: TaskStore['listPushConfigs'] = (owner, taskId) =>
    (this.#owners.get(owner)?.tasks.get(taskId)?.configs ?? []).map(({ config }) => config);

  deletePushConfig: TaskStore['deletePushConfig'] = (owner, taskId, id) => {
    const record = this.#owners.get(owner)?.tasks.get(taskId);
    if (record?.configs) record.configs = record.configs.filter(({ config }) => config.id !== id);
    if (record?.isHeld) this.#releaseEvents(record);
  };

  putDelivery: TaskStore['putDelivery'] = (owner, taskId, id, state) => {
    const existing = this.#findPushConfig(owner, taskId, id);
    if (!existing) return false;
    existing.state = state;
    const record = this.#owners.get(owner)?.tasks.get(taskId);
    if (record?.isHeld) this.#releaseEvents(record);
    return true;
  };

  listDeliveries: TaskStore['listDeliveries'] = () => {
    const deliveries: PushDelivery[] = [];
    for (const { owner, tasks } of this.#owners.values()) {
      for (const { configs, log, state, sequence: last } of tasks.values()) {
        const sequence = log?.sequence ?? last;
        for (const each of configs ?? []) {
          if (isTerminal(state) && each.state.delivered >= sequence) continue;
          deliveries.push({ owner, ...each, sequence });
        }
      }
    }
    return deliveries;
  };

  #findPushConfig(owner: string, taskId: string, id: string): PushConfigRecord | undefined {
    const configs = this.#owners.get(owner)?.tasks.get(taskId)?.configs;
    return configs?.find(({ config }) => config.id === id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#owners.clear();
    this.#finished = [];
  }

  #move(record: TaskRecord, log: InMemoryTaskLog): void {
    record.ownerTasks.removeFromIndexes(record);
    const wasFinished = isTerminal(record.state);
    record.state = log.state;
    record.touched = ++this.#touched;
    record.changedAt = this.#now();
    record.ownerTasks.addToIndexes(record);
    if (!wasFinished && isTerminal(record.state)) this.#finish(record);
  }

  #finish(record: TaskRecord): void {
    this.#finished.push(record);
    this.#replayable += record.log?.retainedCount ?? 0;
    while (this.#replayable > this.#maxReplayable && this.#finished.length - this.#archived > 1)
      this.#archive(this.#finished[this.#archived++]);
    this.#evictWhile((oldest) => oldest.changedAt < this.#now() - this.#maxAge);
  }

  /** Replaces the log of a finished task by its final state. */
  #archive(record: TaskRecord | undefined): void {
    if (!record?.log) return;
    this.#replayable -= record.log.retainedCount;
    record.isHeld = true;
    this.#releaseEvents(record);
  }

  /** Drops the events of a finished task when all webhooks have received them. */
  #releaseEvents(record: TaskRecord): void {
    if (!record.log || countUndelivered(record) > 0) return;
    record.isHeld = false;
    record.task = record.log.task();
    record.sequence = record.log.sequence;
    record.log = undefined;
  }

  #makeRoom(): void {
    if (this.#count > this.#maxTasks) this.#evictWhile(() => this.#count > this.#maxTasks);
  }

  /** Evicts finished tasks, the oldest first, except for those that are kept. */
  #evictWhile(
    isTooMuch: (oldest: TaskRecord) => boolean,
    isKept: (record: TaskRecord) => boolean = () => false,
  ): number {
    let evicted = 0;
    for (let index = this.#evicted; index < this.#finished.length; index++) {
      const oldest = this.#finished[index];
      if (oldest && !isTooMuch(oldest)) break;
      if (oldest && isKept(oldest)) continue;
      this.#finished[index] = undefined;
      if (index === this.#evicted) this.#evicted++;
      if (!oldest) continue;
      if (!oldest.isHeld) this.#replayable -= oldest.log?.retainedCount ?? 0;
      oldest.ownerTasks.delete(oldest);
      this.#count--;
      evicted++;
    }
    if (this.#evicted > 1_000 && this.#evicted * 2 > this.#finished.length) this.#compact();
    return evicted;
  }

  #compact(): void {
    this.#finished.splice(0, this.#evicted);
    this.#archived = Math.max(0, this.#archived - this.#evicted);
    this.#evicted = 0;
  }
}
