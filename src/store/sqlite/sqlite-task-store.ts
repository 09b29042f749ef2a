import { isThenable, type MaybePromise } from '../../primitives/maybe-promise.ts';
import { taskConflict, taskNotFound } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Outage } from '../../protocol/outage.ts';
import type { Task } from '../../protocol/task.ts';
import { closedError, withoutLeaseError } from '../durable/store-access-errors.ts';
import type { PushDelivery, PushDeliveryState, TaskLog, TaskStore, UnfinishedTask } from '../task-store.ts';
import type { InMemoryTaskLog } from '../in-memory-log.ts';
import { TaskSizeLimit } from '../durable/task-size-limit.ts';
import { taskCacheKey, LogCache } from '../durable/log-cache.ts';
import { GroupCommit } from './group-commit.ts';
import { type Database, inTransaction } from './database.ts';
import { reportOnce } from './text-columns.ts';
import { readPageTokenKey } from './schema.ts';
import { reserveFile } from './sharing/agent-name.ts';
import { SharedTasks } from './sharing/shared-tasks.ts';
import { DurableTaskLog } from '../durable/durable-task-log.ts';
import { HeldTaskLog, type HoldBackend } from '../durable/held-task-log.ts';
import type { SqliteTaskStoreSettings } from './sqlite-task-store-settings.ts';
import { TaskExpiry } from './task-expiry.ts';
import type { Lease } from './lease/lease.ts';
import { OwnerTable } from './owner-table.ts';
import { PushConfigTable } from './push-config-table.ts';
import { TaskLister } from './task-lister.ts';
import { TaskReader } from './task-reader.ts';
import { retryWhileLocked } from './sharing/retry-while-locked.ts';
import { ExternalWriteMonitor } from './sharing/external-writes.ts';

/** Changes of a running task that stay in memory. Slow subscribers read older ones from disk. */
const maxRetainedChanges = 1_000;

/** Task store in a SQLite file. Reads are synchronous; writes are committed together at the end of the event-loop turn. */
export class SqliteTaskStore implements TaskStore, HoldBackend {
  readonly isShared: boolean;
  readonly rejectsKnownMessages: boolean;
  onHandOver: (() => void) | undefined = undefined;
  onCommand: TaskStore['onCommand'] = undefined;
  readonly #database: Database;
  readonly #owners: OwnerTable;
  readonly #reader: TaskReader;
  readonly #commits: GroupCommit;
  readonly #cache: LogCache;
  readonly #configs: PushConfigTable;
  readonly #externalWrites: ExternalWriteMonitor;
  readonly #expiry: TaskExpiry;
  /** Undefined if no other process may write to the file. */
  readonly #shared: SharedTasks | undefined;
  readonly #lease: Lease | undefined;
  readonly #lister: TaskLister;
  readonly #sizeLimit: TaskSizeLimit;
  /** Task ids by message id, for tasks that are not committed yet. */
  #messages = new Map<string, string>();
  readonly #busyTimeout: number;
  #closing: Promise<void> | undefined = undefined;
  #isClosed = false;

  constructor(database: Database, settings: SqliteTaskStoreSettings) {
    this.#database = database;
    this.#sizeLimit = new TaskSizeLimit(settings.maxTaskBytes);
    this.#owners = new OwnerTable(database);
    const onDamage = reportOnce(settings.onDamage);
    this.#reader = new TaskReader(database, onDamage);
    this.#cache = new LogCache(settings.maxCachedTasks, settings.maxCachedBytes);
    this.#lister = new TaskLister(this.#reader, this.#owners, this.#cache, readPageTokenKey(database));
    const { lease } = settings;
    this.#lease = lease;
    this.isShared = lease?.isShared ?? false;
    this.rejectsKnownMessages = this.isShared;
    const fence = {
      token: () => lease?.token ?? '',
      check: () => (lease ? lease.check() : this.#checkWritable()),
      recover: () => lease?.replace() ?? false,
    };
    const { now, busyTimeout, clock, onOutage, pollInterval: interval, watched } = settings;
    this.#shared = lease?.isShared ? this.#share(database, lease, settings) : undefined;
    const { holders } = this.#shared ?? {};
    this.#busyTimeout = busyTimeout;
    const onSettled = (log: DurableTaskLog): void => this.#committed(log);
    this.#commits = new GroupCommit(database, { now, fence, busyTimeout, holders, onSettled, onOutage });
    this.#configs = new PushConfigTable(database, onDamage, this.#shared?.deliveries);
    this.#expiry = new TaskExpiry(database, busyTimeout);
    const onWrite = (): void => {
      for (const log of this.#cache.logs()) if (log.hasWaitingSubscriptions) this.refresh(log);
      this.#shared?.check();
    };
    this.#externalWrites = new ExternalWriteMonitor(database, { clock, interval, watched, onWrite });
  }

  #share(database: Database, lease: Lease, { clock, now }: SqliteTaskStoreSettings): SharedTasks {
    const shared = new SharedTasks(database, {
      lease,
      clock,
      now,
      reader: this.#reader,
      add: (log) => this.#commits.add(log),
      cache: this.#cache as LogCache<HeldTaskLog>,
      write: (write) => this.#write(write),
      open: (owner, id) => this.open(owner, id),
      refresh: (log) => this.refresh(log),
      onOrphans: () => this.onHandOver?.(),
      onCommand: (log, command) => this.onCommand?.(log, command),
    });
    lease.onReplaced = () => {
      shared.loseAll();
      this.#commits.forgetDiscarded();
    };
    return shared;
  }

  create(owner: string, task: Task, key?: string): TaskLog | Promise<TaskLog> {
    this.#checkOpen();
    // The commit checks the fencing token, so only a known loss is checked here.
    if (!this.#lease || this.#lease.error) this.#checkWritable();
    if (this.#commits.outage) throw this.#commits.outage.error;
    const ownerRow = this.#owners.find(owner) ?? this.#write(() => this.#owners.insert(owner));
    if (isThenable(ownerRow))
      return ownerRow.then(() => {
        // The same message may have arrived again during the wait.
        const known = key === undefined ? undefined : this.findByKey(owner, key);
        if (known !== undefined) throw taskConflict(known);
        return this.create(owner, task, key);
      });
    const log = this.#newLog(owner, task);
    this.#sizeLimit.checkNew(log);
    log.visible = 0;
    log.pending.push({ kind: 'task', task, sequence: 1 });
    log.ownerRow = ownerRow;
    log.hasStatusChange = true;
    log.comparedVersion = this.#externalWrites.version;
    if (key !== undefined) log.stored.messageId = key;
    if (log instanceof HeldTaskLog && this.#shared) return this.#shared.create(log);
    if (this.#cache.get(owner, task.id) || this.#reader.exists(ownerRow, task.id))
      throw taskConflict(task.id);
    if (key !== undefined) this.#messages.set(taskCacheKey(owner, key), task.id);
    this.#commits.add(log);
    this.#cache.put(log);
    return log;
  }

  #newLog(owner: string, task: Task, sequence?: number): DurableTaskLog {
    return this.#shared
      ? new HeldTaskLog(this, owner, task, sequence)
      : new DurableTaskLog(this, owner, task, sequence);
  }

  outage(): Outage | undefined {
    const error = this.#lease?.error;
    return error ? { error, ended: undefined } : this.#commits.outage;
  }

  open(owner: string, id: string): TaskLog | undefined {
    this.#checkOpen();
    const cached = this.#cache.get(owner, id);
    const version = this.#externalWrites.check();
    if (cached && (cached.comparedVersion === version || this.refresh(cached))) return cached;
    const ownerRow = this.#owners.find(owner);
    const loaded = ownerRow === undefined ? undefined : this.#reader.load(ownerRow, id);
    if (ownerRow === undefined || !loaded) return undefined;
    const log = this.#newLog(owner, loaded.task, loaded.stored.sequence);
    log.ownerRow = ownerRow;
    log.stored = loaded.stored;
    log.snapshotSize = loaded.snapshotSize;
    log.changesSize = loaded.changesSize;
    log.bytes = loaded.snapshotSize;
    log.comparedVersion = version;
    if (log instanceof HeldTaskLog) log.isHeld = this.#shared?.holders.isHolder(loaded.stored.row) ?? false;
    this.#cache.put(log);
    return log;
  }

  findByKey(owner: string, key: string): string | undefined {
    this.#checkOpen();
    const uncommitted = this.#messages.size > 0 ? this.#messages.get(taskCacheKey(owner, key)) : undefined;
    if (uncommitted !== undefined) return uncommitted;
    const ownerRow = this.#owners.find(owner);
    return ownerRow === undefined ? undefined : this.#reader.find(ownerRow, key);
  }

  list(owner: string, request: ListTasksRequest): TaskPage {
    this.#checkOpen();
    return this.#lister.list(owner, request);
  }

  listUnfinished(): readonly UnfinishedTask[] {
    this.#checkOpen();
    return this.#reader.unfinished();
  }

  handOver(tasks: readonly UnfinishedTask[]): MaybePromise<void> {
    this.#checkWritable();
    return this.#shared?.handOver(tasks);
  }

  takeOver(): MaybePromise<readonly UnfinishedTask[]> {
    this.#checkWritable();
    return this.#shared?.takeOver() ?? [];
  }

  readonly command: NonNullable<TaskStore['command']> = async (log, command, isDone) => {
    this.#checkWritable();
    await this.#shared?.command(log, command, isDone);
  };

  claim(log: HeldTaskLog): MaybePromise<boolean> {
    this.#checkWritable();
    return this.#shared?.claim(log) ?? true;
  }

  release(log: HeldTaskLog): void {
    // An unfinished task stays held until it is handed over, or until the process ends.
    if (this.#isClosed || log.state === 'submitted' || log.state === 'working') return;
    log.isReleasing = true;
    this.#commits.add(log);
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
    const put = (): PushDeliveryState | undefined => this.#configs.put(ownerRow ?? 0, config, delivered);
    const state = await this.#write(put);
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
    if (this.#lease) this.#checkWritable();
    const ownerRow = this.#owners.find(owner);
    return (
      ownerRow !== undefined && this.#write(() => this.#configs.putDelivery(ownerRow, taskId, id, state))
    );
  }

  get reserveFor(): TaskStore['reserveFor'] {
    return this.#shared && ((name) => this.#write(() => reserveFile(this.#database, name)));
  }

  get findHeldPushConfig(): TaskStore['findHeldPushConfig'] {
    if (!this.#shared) return undefined;
    return (owner, taskId, id) => this.#configs.findHeld(this.#owners.find(owner) ?? 0, taskId, id);
  }

  get takeOverDeliveries(): TaskStore['takeOverDeliveries'] {
    return this.#shared && (() => this.#shared?.takeOverDeliveries(this.#configs) ?? []);
  }

  get releaseDeliveries(): TaskStore['releaseDeliveries'] {
    return this.#shared && (() => this.#shared?.releaseDeliveries());
  }

  listDeliveries(): readonly PushDelivery[] {
    this.#checkOpen();
    return this.#configs.listDeliveries();
  }

  admit(log: InMemoryTaskLog, change: TaskChange, size: number): void {
    this.#sizeLimit.checkChange(log, change, size);
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
    this.#shared?.stop();
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
    try {
      this.#lease.check();
    } catch (error) {
      if (!this.#lease.replace()) throw error;
    }
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

  #committed(log: DurableTaskLog): void {
    if (log instanceof HeldTaskLog && log.isReleasing) log.isHeld = log.isReleasing = false;
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

  readonly follow = (log: HeldTaskLog): void => this.#externalWrites.catchUp(log.comparedVersion);

  /** Applies changes of other processes to a cached log. @returns false if the log no longer matches the file. */
  refresh(log: DurableTaskLog): boolean {
    // Pending changes are compared with the file when they are committed.
    if (log.isDirty) return true;
    log.comparedVersion = this.#externalWrites.version;
    if (log instanceof HeldTaskLog && this.#shared?.isHolder(log)) return true;
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
}
