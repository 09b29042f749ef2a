import { isThenable, mapResolved } from '../../primitives/maybe-promise.ts';
import type { Clock } from '../../primitives/clock.ts';
import { A2AError, taskConflict, taskNotFound } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Outage } from '../../protocol/outage.ts';
import type { Task } from '../../protocol/task.ts';
import type { PushDelivery, PushDeliveryState, TaskStore, TaskLog, UnfinishedTask } from '../task-store.ts';
import type { InMemoryTaskLog, LogBackend } from '../in-memory-log.ts';
import { isSmallStatus, taskSize, taskTooLargeError } from '../content-size.ts';
import { PageTokens } from '../page-tokens.ts';
import { toListEntry, checkPageSize, parseStatusAfter } from '../paging.ts';
import { closedError, withoutLeaseError } from '../durable/store-access-errors.ts';
import { taskCacheKey, LogCache } from '../durable/log-cache.ts';
import { GroupCommit } from './group-commit.ts';
import { type Database, inTransaction, type SqlRow } from './database.ts';
import type { DamagedRowError } from './text-columns.ts';
import { LruSet } from '../../primitives/lru-map.ts';
import { readPageTokenKey } from './schema.ts';
import { EndedProcesses } from './sharing/ended-processes.ts';
import { TaskHolderTable } from './sharing/task-holder-table.ts';
import { HandOverTable } from './sharing/hand-over-table.ts';
import { DurableTaskLog } from '../durable/durable-task-log.ts';
import { TaskExpiry } from './task-expiry.ts';
import type { Lease } from './lease/lease.ts';
import { OwnerTable } from './owner-table.ts';
import { PushConfigTable } from './push-config-table.ts';
import { TaskReader } from './task-reader.ts';
import { retryWhileLocked } from './sharing/retry-while-locked.ts';
import { ExternalWriteMonitor } from './sharing/external-writes.ts';

/** Changes of a running task that stay in memory. Slow subscribers read older ones from disk. */
const maxRetainedChanges = 1_000;

/** Resolved `SqliteTaskStoreOptions`. */
export interface SqliteTaskStoreSettings {
  now: () => number;
  maxCachedTasks: number;
  maxCachedBytes: number;
  maxTaskBytes: number;
  pollInterval: number;
  busyTimeout: number;
  onOutage: ((error?: A2AError) => void) | undefined;
  onDamage: ((error: A2AError) => void) | undefined;
  clock: Clock;
  /** Undefined with `withoutLease`. */
  lease: Lease | undefined;
}

/** Task store in a SQLite file. Reads are synchronous; writes are committed together at the end of the event-loop turn. */
export class SqliteTaskStore implements TaskStore, LogBackend {
  readonly isShared: boolean;
  onHandOver: (() => void) | undefined = undefined;
  readonly #database: Database;
  readonly #owners: OwnerTable;
  readonly #reader: TaskReader;
  readonly #commits: GroupCommit;
  readonly #cache: LogCache;
  readonly #configs: PushConfigTable;
  readonly #externalWrites: ExternalWriteMonitor;
  readonly #expiry: TaskExpiry;
  readonly #handOvers: HandOverTable;
  readonly #endedProcesses: EndedProcesses | undefined;
  readonly #lease: Lease | undefined;
  readonly #pageTokens: PageTokens;
  readonly #maxTaskBytes: number;
  /** Task ids by message id, for tasks that are not committed yet. */
  #messages = new Map<string, string>();
  /** Damaged rows that were reported. */
  readonly #damage = new LruSet<string>({ maxEntries: 1_000 });
  readonly #onDamage: ((error: A2AError) => void) | undefined;
  readonly #busyTimeout: number;
  #closing: Promise<void> | undefined = undefined;
  #isClosed = false;

  constructor(database: Database, settings: SqliteTaskStoreSettings) {
    this.#database = database;
    this.#maxTaskBytes = settings.maxTaskBytes;
    this.#pageTokens = new PageTokens(readPageTokenKey(database));
    this.#owners = new OwnerTable(database);
    this.#reader = new TaskReader(database, (error) => this.#reportDamage(error));
    this.#cache = new LogCache(settings.maxCachedTasks, settings.maxCachedBytes);
    const { lease } = settings;
    this.#lease = lease;
    this.isShared = lease?.isShared ?? false;
    const fence = { token: lease?.token ?? '', check: () => this.#checkWritable() };
    const { now, busyTimeout, onOutage } = settings;
    const holders = lease?.isShared ? new TaskHolderTable(database, lease.token) : undefined;
    this.#busyTimeout = busyTimeout;
    const onSettled = (log: DurableTaskLog): void => this.#committed(log);
    this.#commits = new GroupCommit(database, { now, fence, busyTimeout, holders, onSettled, onOutage });
    this.#onDamage = settings.onDamage;
    this.#configs = new PushConfigTable(database, (error) => this.#reportDamage(error));
    this.#expiry = new TaskExpiry(database, busyTimeout);
    this.#handOvers = new HandOverTable(database);
    this.#endedProcesses = lease?.isShared
      ? new EndedProcesses(database, lease.token, () => this.onHandOver?.(), settings.clock)
      : undefined;
    this.#externalWrites = new ExternalWriteMonitor(database, settings.pollInterval, () => {
      this.#refreshSubscribed();
      if (this.onHandOver && !this.#handOvers.isEmpty) this.onHandOver();
    });
  }

  create(owner: string, task: Task, messageId?: string): TaskLog | Promise<TaskLog> {
    this.#checkOpen();
    // The commit checks the fencing token, so only a known loss is checked here.
    if (!this.#lease || this.#lease.error) this.#checkWritable();
    const { outage } = this.#commits;
    if (outage) throw outage.error;
    const ownerRow = this.#owners.find(owner) ?? this.#write(() => this.#owners.insert(owner));
    if (isThenable(ownerRow))
      return ownerRow.then(() => {
        // The same message may have arrived again during the wait.
        const known = messageId === undefined ? undefined : this.findByMessageId(owner, messageId);
        if (known !== undefined) throw taskConflict(known);
        return this.create(owner, task, messageId);
      });
    if (this.#cache.get(owner, task.id) || this.#reader.exists(ownerRow, task.id))
      throw taskConflict(task.id);
    const log = new DurableTaskLog(this, owner, task);
    if (log.bytes > this.#maxTaskBytes) throw taskTooLargeError(task.id, this.#maxTaskBytes);
    log.visible = 0;
    log.pending.push({ kind: 'task', task, sequence: 1 });
    log.ownerRow = ownerRow;
    log.hasStatusChange = true;
    log.comparedVersion = this.#externalWrites.version;
    if (messageId !== undefined) {
      log.stored.messageId = messageId;
      this.#messages.set(taskCacheKey(owner, messageId), task.id);
    }
    this.#commits.add(log);
    this.#cache.put(log);
    return log;
  }

  outage(): Outage | undefined {
    const error = this.#lease?.error;
    return error ? { error, ended: undefined } : this.#commits.outage;
  }

  open(owner: string, id: string): TaskLog | undefined {
    this.#checkOpen();
    const cached = this.#cache.get(owner, id);
    const version = this.#externalWrites.check();
    if (cached && (cached.comparedVersion === version || this.#refresh(cached))) return cached;
    const ownerRow = this.#owners.find(owner);
    const loaded = ownerRow === undefined ? undefined : this.#reader.load(ownerRow, id);
    if (ownerRow === undefined || !loaded) return undefined;
    const log = new DurableTaskLog(this, owner, loaded.task, loaded.stored.sequence);
    log.ownerRow = ownerRow;
    log.stored = loaded.stored;
    log.snapshotSize = loaded.snapshotSize;
    log.changesSize = loaded.changesSize;
    log.bytes = loaded.snapshotSize;
    log.comparedVersion = version;
    this.#cache.put(log);
    return log;
  }

  findByMessageId(owner: string, messageId: string): string | undefined {
    this.#checkOpen();
    const uncommitted =
      this.#messages.size > 0 ? this.#messages.get(taskCacheKey(owner, messageId)) : undefined;
    if (uncommitted !== undefined) return uncommitted;
    const ownerRow = this.#owners.find(owner);
    return ownerRow === undefined ? undefined : this.#reader.find(ownerRow, messageId);
  }

  list(owner: string, request: ListTasksRequest): TaskPage {
    this.#checkOpen();
    const pageSize = checkPageSize(request);
    const before = this.#pageTokens.read(owner, request.pageToken);
    const since = parseStatusAfter(request);
    const ownerRow = this.#owners.find(owner);
    if (ownerRow === undefined) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    const floor = this.#reader.floor(ownerRow, since);
    const found = this.#reader.page(ownerRow, request, floor, before, pageSize + 1, (row, sequence) => {
      const log = this.#cache.getByRow(row);
      return log?.visible === sequence ? log.task() : undefined;
    });
    const shown = found.slice(0, pageSize);
    return {
      tasks: shown.flatMap(({ task }) => (task ? [toListEntry(task, request)] : [])),
      nextPageToken: found.length > pageSize ? this.#pageTokens.write(owner, shown.at(-1)?.touched ?? 0) : '',
      pageSize,
      totalSize: this.#reader.count(ownerRow, request, floor),
    };
  }

  listUnfinished(): readonly UnfinishedTask[] {
    this.#checkOpen();
    return this.#reader.unfinished();
  }

  handOver(tasks: readonly UnfinishedTask[]): void | Promise<void> {
    this.#checkWritable();
    return this.#write(() => {
      for (const { owner, id } of tasks) this.#handOvers.add(this.#owners.find(owner) ?? 0, id);
    });
  }

  takeOver(): readonly UnfinishedTask[] | Promise<readonly UnfinishedTask[]> {
    const take = (): SqlRow[] => {
      this.#checkOpen();
      return this.#handOvers.take(() => this.#checkWritable());
    };
    return mapResolved(retryWhileLocked(take, this.#busyTimeout), (rows) => this.#reader.toUnfinished(rows));
  }

  async expire(before: Date): Promise<number> {
    this.#checkOpen();
    this.#lease?.check();
    this.#commits.flush();
    const onDeleted = (owner: string, id: string): void => {
      const log = this.#cache.get(owner, id);
      if (log) this.#cache.drop(log);
    };
    return this.#expiry.run(before.getTime(), onDeleted, () => !this.#isClosed);
  }

  async putPushConfig(owner: string, config: PushConfig, delivered = 0): Promise<PushDeliveryState> {
    this.#checkWritable();
    await this.#cache.get(owner, config.taskId)?.whenPersisted();
    const ownerRow = this.#owners.find(owner);
    const state =
      ownerRow === undefined
        ? undefined
        : await this.#write(() => this.#configs.put(ownerRow, config, delivered));
    if (!state) throw taskNotFound(config.taskId);
    return state;
  }

  listPushConfigs(owner: string, taskId: string): readonly PushConfig[] {
    this.#checkOpen();
    const ownerRow = this.#owners.find(owner);
    return ownerRow === undefined ? [] : this.#configs.list(ownerRow, taskId);
  }

  deletePushConfig(owner: string, taskId: string, id: string): void | Promise<void> {
    this.#checkWritable();
    const ownerRow = this.#owners.find(owner);
    if (ownerRow !== undefined) return this.#write(() => this.#configs.delete(ownerRow, taskId, id));
  }

  putDelivery(
    owner: string,
    taskId: string,
    id: string,
    state: PushDeliveryState,
  ): boolean | Promise<boolean> {
    this.#checkOpen();
    this.#lease?.check();
    const ownerRow = this.#owners.find(owner);
    return (
      ownerRow !== undefined && this.#write(() => this.#configs.putDelivery(ownerRow, taskId, id, state))
    );
  }

  listDeliveries(): readonly PushDelivery[] {
    this.#checkOpen();
    return this.#configs.listDeliveries();
  }

  admit(log: InMemoryTaskLog, change: TaskChange, size: number): void {
    if (log.bytes + size <= this.#maxTaskBytes || isSmallStatus(change, size)) return;
    // Replaced artifacts are part of the events only.
    log.bytes = taskSize(log.task());
    if (log.bytes + size > this.#maxTaskBytes) throw taskTooLargeError(log.id, this.#maxTaskBytes);
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    const disk = log as DurableTaskLog;
    disk.pending.push(change);
    if (change.kind === 'status' || change.kind === 'task') disk.hasStatusChange = true;
    if (disk.isDirty) return;
    this.#checkOpen();
    this.#commits.add(disk);
    this.#cache.put(disk);
  }

  whenPersisted(log: InMemoryTaskLog): Promise<void> | undefined {
    const disk = log as DurableTaskLog;
    const { outage } = this.#commits;
    return outage && disk.isDirty ? Promise.reject(outage.error) : disk.whenCommitted();
  }

  replay(log: InMemoryTaskLog, after: number): readonly TaskChange[] | undefined {
    const { row } = (log as DurableTaskLog).stored;
    if (row === 0 || this.#isClosed) return undefined;
    const changes = this.#reader.changes(row, after, log.visible, false, log);
    // Tasks of early versions were stored without their first event.
    return after === 0 && changes[0]?.sequence !== 1 ? undefined : changes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#externalWrites.stop();
    this.#endedProcesses?.stop();
    this.#commits.flush();
    const unlocked = this.#commits.whenUnlocked();
    if (unlocked) await unlocked;
    this.#isClosed = true;
    this.#commits.stop(closedError());
    this.#lease?.release();
    try {
      this.#database.prepare('pragma wal_checkpoint(truncate)').all([]);
    } catch {
      // The file is locked or the disk is full. The next process writes the checkpoint.
    } finally {
      this.#database.close();
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError();
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (!this.#lease) throw withoutLeaseError();
    this.#lease.check();
  }

  /**
   * Writes outside of a group commit: at once, or after a lock of another process. Rejects the write during an outage;
   * its failure begins one.
   */
  #write<T>(write: () => T): T | Promise<T> {
    const attempt = (): T => {
      this.#checkOpen();
      if (this.#commits.outage) throw this.#commits.outage.error;
      return inTransaction(this.#database, write);
    };
    return retryWhileLocked(attempt, this.#busyTimeout, (error) => {
      // Without a lease, this store commits nothing that could be retried.
      if (this.#lease) this.#commits.suspend(error);
    });
  }

  /** Reports each damaged row once. */
  #reportDamage(error: DamagedRowError): void {
    const place = (error.cause as Error).message;
    if (this.#damage.has(place)) return;
    this.#damage.add(place);
    this.#onDamage?.(error);
  }

  #committed(log: DurableTaskLog): void {
    if (this.#messages.size > 0 && log.stored.messageId !== null) {
      this.#messages.delete(taskCacheKey(log.owner, log.stored.messageId));
    }
    if (log.error) {
      this.#cache.drop(log);
      log.onAbandoned?.(log, log.error);
      return;
    }
    if (log.retainedCount > maxRetainedChanges * 2) log.trim(maxRetainedChanges);
    this.#cache.put(log);
  }

  /** Applies changes of other processes to a cached log. @returns false if the log no longer matches the file. */
  #refresh(log: DurableTaskLog): boolean {
    // Pending changes are compared with the file when they are committed.
    if (log.isDirty) return true;
    log.comparedVersion = this.#externalWrites.version;
    const stored = this.#reader.readState(log.stored.row);
    if (!stored || stored.sequence < log.sequence) {
      this.#cache.drop(log);
      return false;
    }
    if (stored.sequence === log.sequence) return true;
    const changes = this.#reader.changes(stored.row, log.sequence, stored.sequence, true, log);
    log.stored = stored;
    log.receive(changes);
    return true;
  }

  #refreshSubscribed(): void {
    for (const log of this.#cache.logs()) if (log.hasWaitingSubscriptions) this.#refresh(log);
  }
}
