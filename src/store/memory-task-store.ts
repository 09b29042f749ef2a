/**
 * The default task store: tasks in the memory of the process.
 *
 * @module
 */
import { taskConflict, taskNotFound } from '../protocol/errors.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import { isTerminal, type Task } from '../protocol/task.ts';
import type { TaskStore, TaskLog, TaskStoreUsage } from './task-store.ts';
import { isSmallStatus, storeFullError, taskSize, taskTooLargeError } from './content-size.ts';
import { copyingTaskStore } from './copying-task-store.ts';
import { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';
import { OwnerShares } from './owner-shares.ts';
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
   * Maximum number of tasks. Above it, finished tasks are evicted, oldest first: those of the owner that adds a task, or
   * of the owner that uses the most if the former uses less than its share. Unfinished tasks are never evicted.
   * @defaultValue 250,000
   */
  maxTasks?: number;
  /**
   * Approximate maximum size of all tasks, in bytes; a character counts as one byte. Above it, finished tasks are evicted
   * as with `maxTasks`. If none may be evicted, adding to the store fails with `RESOURCE_EXHAUSTED`.
   * @defaultValue 256 MiB
   */
  maxBytes?: number;
  /**
   * Approximate maximum size of the tasks of one owner, in bytes. Above it, finished tasks of this owner are evicted; if
   * there are none, adding fails with `RESOURCE_EXHAUSTED`.
   * @defaultValue half of `maxBytes`
   */
  maxOwnerBytes?: number;
  /**
   * Approximate maximum size of one task with its events, in bytes. Above it, events are discarded, and changes that make
   * the task itself larger fail with `RESOURCE_EXHAUSTED`.
   * @defaultValue 64 MiB, at most `maxOwnerBytes`
   */
  maxTaskBytes?: number;
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

/** Creates a task store in memory, bounded by count, size and age. */
export function memoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  return copyingTaskStore(new MemoryTaskStore(options));
}

class MemoryTaskStore implements TaskStore, LogBackend {
  #owners = new Map<string, OwnerTasks>();
  #touched = 0;
  #count = 0;
  #bytes = 0;
  #evictedCount = 0;
  onEvicted: TaskStore['onEvicted'] = undefined;
  readonly #shares: OwnerShares;
  /**
   * Finished tasks in order of completion. Those before `#expired` are deleted, those before `#archived` have no log.
   * Further ones may be deleted as well.
   */
  #finished: (TaskRecord | undefined)[] = [];
  #expired = 0;
  #archived = 0;
  /** Number of deleted tasks in `#finished`. */
  #deleted = 0;
  /** Number of events retained by finished tasks that still have a log. */
  #replayable = 0;
  readonly #pageTokens = new PageTokens();
  readonly #maxTasks: number;
  readonly #maxBytes: number;
  readonly #maxOwnerBytes: number;
  readonly #maxTaskBytes: number;
  readonly #maxAge: number;
  readonly #maxReplayable: number;
  readonly #maxEvents: number;
  readonly #now: () => number;

  constructor(options: MemoryTaskStoreOptions) {
    this.#maxTasks = options.maxTasks ?? 250_000;
    this.#maxBytes = options.maxBytes ?? 256 * 1_024 * 1_024;
    this.#maxOwnerBytes = options.maxOwnerBytes ?? this.#maxBytes / 2;
    this.#maxTaskBytes = options.maxTaskBytes ?? Math.min(64 * 1_024 * 1_024, this.#maxOwnerBytes);
    this.#shares = new OwnerShares({ maxTasks: this.#maxTasks, maxBytes: this.#maxBytes }, this.#owners);
    this.#maxAge = options.maxAge ?? 7 * 24 * 3_600_000;
    this.#maxReplayable = options.maxReplayableEvents ?? 5_000;
    this.#maxEvents = options.maxEvents ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  create(owner: string, task: Task, key?: string): TaskLog {
    const ownerTasks = this.#owners.get(owner) ?? new OwnerTasks(owner);
    if (ownerTasks.tasks.has(task.id)) throw taskConflict(task.id);
    const log = new RecordedTaskLog(this, owner, task);
    this.#checkRoom(ownerTasks, task.id, log.bytes);
    if (ownerTasks.tasks.size === 0) this.#owners.set(owner, ownerTasks);
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
      bytes: log.bytes,
      isDeleted: false,
      messageId: key,
      configs: undefined,
      isHeld: false,
    };
    log.record = record;
    ownerTasks.tasks.set(task.id, record);
    if (key !== undefined) ownerTasks.byMessage.set(key, task.id);
    ownerTasks.add(record);
    this.#count++;
    this.#bytes += log.bytes;
    ownerTasks.bytes += log.bytes;
    if (isTerminal(task.status.state)) this.#finish(record);
    if (this.#count > this.#maxTasks) this.#makeRoom(ownerTasks, 0);
    return log;
  }

  open(owner: string, id: string): TaskLog | undefined {
    const record = this.#owners.get(owner)?.tasks.get(id);
    if (!record) return undefined;
    return record.log ?? new InMemoryTaskLog(this, owner, materializeTask(record), record.sequence);
  }

  findByKey(owner: string, key: string): string | undefined {
    return this.#owners.get(owner)?.byMessage.get(key);
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
    return this.#expireBefore(
      time,
      (record) => record.changedAt >= time - maxUndeliveredAge && countUndelivered(record) > 0,
    );
  }

  usage = (): TaskStoreUsage => ({ tasks: this.#count, bytes: this.#bytes, evicted: this.#evictedCount });

  admit(log: InMemoryTaskLog, change: TaskChange, size: number): void {
    const { record } = log as RecordedTaskLog;
    if (!record || record.isDeleted) return;
    const { ownerTasks } = record;
    if (
      log.bytes + size > this.#maxTaskBytes ||
      ownerTasks.bytes + size > this.#maxOwnerBytes ||
      this.#bytes + size > this.#maxBytes
    )
      this.#admitToFullStore(record, log, change, size);
    record.bytes += size;
    ownerTasks.bytes += size;
    this.#bytes += size;
  }

  #admitToFullStore(record: TaskRecord, log: InMemoryTaskLog, change: TaskChange, size: number): void {
    if (log.bytes + size > this.#maxTaskBytes) {
      // Replaced artifacts are part of the events only.
      log.trim(0);
      this.#resize(record, log, taskSize(log.task()));
    }
    if (isSmallStatus(change, size)) this.#makeRoom(record.ownerTasks, size);
    else this.#checkRoom(record.ownerTasks, log.id, size, log.bytes);
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    log.publish();
    const { record } = log as RecordedTaskLog;
    if (!record || record.isDeleted) return;
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

  listDeliveries: TaskStore['listDeliveries'] = () =>
    [...this.#owners.values()].flatMap((ownerTasks) => ownerTasks.listDeliveries());

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
    this.#expireBefore(this.#now() - this.#maxAge);
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
    const { log } = record;
    if (!log || countUndelivered(record) > 0) return;
    record.isHeld = false;
    record.task = log.task();
    record.sequence = log.sequence;
    this.#resize(record, log, taskSize(record.task));
    record.log = undefined;
  }

  #resize(record: TaskRecord, log: InMemoryTaskLog, bytes: number): void {
    const growth = bytes - record.bytes;
    log.bytes = bytes;
    record.bytes = bytes;
    record.ownerTasks.bytes += growth;
    this.#bytes += growth;
  }

  /** @throws {@link A2AError} `RESOURCE_EXHAUSTED` if there is no room for `size` more bytes. */
  #checkRoom(ownerTasks: OwnerTasks, taskId: string, size: number, taskBytes = 0): void {
    if (taskBytes + size > this.#maxTaskBytes) throw taskTooLargeError(taskId, this.#maxTaskBytes);
    if (this.#makeRoom(ownerTasks, size)) return;
    throw storeFullError();
  }

  /** Evicts finished tasks until `size` more bytes fit. @returns false if they do not. */
  #makeRoom(ownerTasks: OwnerTasks, size: number): boolean {
    while (ownerTasks.bytes + size > this.#maxOwnerBytes) {
      const oldest = ownerTasks.oldestFinished();
      if (!oldest) return false;
      this.#evict(oldest);
    }
    while (this.#bytes + size > this.#maxBytes || this.#count > this.#maxTasks) {
      const total = { count: this.#count, bytes: this.#bytes };
      const oldest = this.#shares.chooseOwner(ownerTasks, total)?.oldestFinished();
      // Unfinished tasks are limited by their size, not by their number.
      if (!oldest) return this.#bytes + size <= this.#maxBytes;
      this.#evict(oldest);
    }
    return true;
  }

  #evict(record: TaskRecord): void {
    this.#evictedCount++;
    if (Number.isInteger(Math.log10(this.#evictedCount))) this.onEvicted?.(this.#evictedCount);
    this.#delete(record);
    this.#deleted++;
    if (this.#deleted > 1_000 && this.#deleted * 2 > this.#finished.length) this.#compact();
  }

  #delete(record: TaskRecord): void {
    const { ownerTasks, log } = record;
    if (!record.isHeld) this.#replayable -= log?.retainedCount ?? 0;
    ownerTasks.delete(record);
    ownerTasks.bytes -= record.bytes;
    this.#bytes -= record.bytes;
    this.#count--;
    record.isDeleted = true;
    record.log = undefined;
    record.task = undefined;
    if (ownerTasks.tasks.size === 0) this.#owners.delete(ownerTasks.owner);
  }

  /** Deletes finished tasks whose last status change is older than `time`, except for those that are kept. */
  #expireBefore(time: number, isKept: (record: TaskRecord) => boolean = () => false): number {
    let expired = 0;
    for (let index = this.#expired; index < this.#finished.length; index++) {
      const oldest = this.#finished[index];
      if (oldest && !oldest.isDeleted) {
        if (oldest.changedAt >= time) break;
        if (isKept(oldest)) continue;
        this.#delete(oldest);
        this.#deleted++;
        expired++;
      }
      this.#finished[index] = undefined;
      if (index === this.#expired) this.#expired++;
    }
    if (this.#deleted > 1_000 && this.#deleted * 2 > this.#finished.length) this.#compact();
    return expired;
  }

  #compact(): void {
    const isPresent = (record: TaskRecord | undefined): boolean => record !== undefined && !record.isDeleted;
    this.#archived = this.#finished.slice(0, this.#archived).filter(isPresent).length;
    this.#finished = this.#finished.filter(isPresent);
    this.#expired = 0;
    this.#deleted = 0;
  }
}
