import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import type { PushDelivery, PushDeliveryState, TaskStore, TaskLog, UnfinishedTask } from '../task-store.ts';
import type { InMemoryTaskLog, LogBackend } from '../in-memory-log.ts';
import { toListEntry, checkPageSize, readPageToken, parseStatusAfter, writePageToken } from '../paging.ts';
import { taskCacheKey, LogCache } from './log-cache.ts';
import { decodeColumn } from './column-encoding.ts';
import { GroupCommit } from './group-commit.ts';
import type { Database } from './database.ts';
import { SqliteTaskLog } from './sqlite-task-log.ts';
import { TaskExpiry } from './task-expiry.ts';
import type { Lease } from './lease.ts';
import { OwnerTable } from './owner-table.ts';
import { PushConfigTable } from './push-config-table.ts';
import { TaskReader } from './task-reader.ts';
import { ExternalWriteMonitor } from './external-writes.ts';

/** How many changes of a running task stay in memory; the rest is read from disk by whoever is that late. */
const keptChanges = 1_000;

/** What {@link SqliteTaskStore} needs to know; see `SqliteLedgerOptions`. */
export interface SqliteTaskStoreSettings {
  now: () => number;
  maxCachedTasks: number;
  maxCachedBytes: number;
  pollInterval: number;
  /** The right to change tasks; undefined for a guest. */
  lease: Lease | undefined;
}

/** The ledger in a file. Reads happen at once; writes wait for the end of the turn and are then written together. */
export class SqliteTaskStore implements TaskStore, LogBackend {
  readonly isShared: boolean;
  readonly #database: Database;
  readonly #owners: OwnerTable;
  readonly #reader: TaskReader;
  readonly #commits: GroupCommit;
  readonly #cache: LogCache;
  readonly #configs: PushConfigTable;
  readonly #strangers: ExternalWriteMonitor;
  readonly #expiry: TaskExpiry;
  readonly #lease: Lease | undefined;
  /** The messages of tasks that are not stored yet. */
  #messages = new Map<string, string>();
  #isClosed = false;

  constructor(database: Database, settings: SqliteTaskStoreSettings) {
    this.#database = database;
    this.#owners = new OwnerTable(database);
    this.#reader = new TaskReader(database);
    this.#cache = new LogCache(settings.maxCachedTasks, settings.maxCachedBytes);
    const { lease } = settings;
    this.#lease = lease;
    this.isShared = lease?.isShared ?? false;
    const fence = { token: lease?.token ?? '', check: () => this.#checkHeld() };
    this.#commits = new GroupCommit(database, settings.now, fence, (log) => this.#committed(log));
    this.#configs = new PushConfigTable(database);
    this.#expiry = new TaskExpiry(database);
    this.#strangers = new ExternalWriteMonitor(database, settings.pollInterval, () =>
      this.#refreshFollowed(),
    );
  }

  create(owner: string, task: Task, messageId?: string): TaskLog {
    this.#checkOpen();
    // Whether it was lost a moment ago is asked by the commit.
    if (!this.#lease || this.#lease.fault) this.#checkHeld();
    const ownerRow = this.#owners.insert(owner);
    if (this.#cache.get(owner, task.id) || this.#reader.exists(ownerRow, task.id)) {
      throw new A2AError('CONFLICT', undefined, { details: { taskId: task.id } });
    }
    const log = new SqliteTaskLog(this, owner, task);
    log.visible = 0;
    log.ownerRow = ownerRow;
    log.isMoved = true;
    log.comparedAt = this.#strangers.version;
    if (messageId !== undefined) {
      log.stored.messageId = messageId;
      this.#messages.set(taskCacheKey(owner, messageId), task.id);
    }
    this.#commits.add(log);
    this.#cache.put(log);
    return log;
  }

  open(owner: string, id: string): TaskLog | undefined {
    this.#checkOpen();
    const cached = this.#cache.get(owner, id);
    const version = this.#strangers.look();
    if (cached && (cached.comparedAt === version || this.#refresh(cached))) return cached;
    const ownerRow = this.#owners.find(owner);
    const loaded = ownerRow === undefined ? undefined : this.#reader.load(ownerRow, id);
    if (ownerRow === undefined || !loaded) return undefined;
    const log = new SqliteTaskLog(this, owner, loaded.task, loaded.stored.sequence);
    log.ownerRow = ownerRow;
    log.stored = loaded.stored;
    log.snapshotSize = loaded.snapshotSize;
    log.changesSize = loaded.changesSize;
    log.comparedAt = version;
    this.#cache.put(log);
    return log;
  }

  findByMessageId(owner: string, messageId: string): string | undefined {
    this.#checkOpen();
    const waiting = this.#messages.size > 0 ? this.#messages.get(taskCacheKey(owner, messageId)) : undefined;
    if (waiting !== undefined) return waiting;
    const ownerRow = this.#owners.find(owner);
    return ownerRow === undefined ? undefined : this.#reader.find(ownerRow, messageId);
  }

  list(owner: string, request: ListTasksRequest): TaskPage {
    this.#checkOpen();
    const pageSize = checkPageSize(request);
    const before = readPageToken(request.pageToken);
    const since = parseStatusAfter(request);
    const ownerRow = this.#owners.find(owner);
    if (ownerRow === undefined) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    const floor = this.#reader.floor(ownerRow, since);
    const found = this.#reader.page(ownerRow, request, floor, before, pageSize + 1, (id, sequence) => {
      const log = this.#cache.get(owner, id);
      return log?.visible === sequence ? log.task() : undefined;
    });
    const shown = found.slice(0, pageSize);
    return {
      tasks: shown.map(({ task }) => toListEntry(task, request)),
      nextPageToken: found.length > pageSize ? writePageToken(shown.at(-1)?.touched ?? 0) : '',
      pageSize,
      totalSize: this.#reader.count(ownerRow, request, floor),
    };
  }

  listUnfinished(): readonly UnfinishedTask[] {
    this.#checkOpen();
    const rows = this.#database
      .prepare(
        `select o.name, t.id from owners o cross join tasks t
         where t.owner = o.key and t.state in ('submitted', 'working') order by t.touched`,
      )
      .all([]);
    return rows.map(({ name, id }) => ({ owner: decodeColumn(name), id: decodeColumn(id) }));
  }

  async expire(before: Date): Promise<number> {
    this.#checkOpen();
    this.#lease?.check();
    this.#commits.flush();
    const forget = (owner: string, id: string): void => {
      const log = this.#cache.get(owner, id);
      if (log) this.#cache.drop(log);
    };
    return this.#expiry.run(before.getTime(), forget, () => !this.#isClosed);
  }

  async putPushConfig(owner: string, config: PushConfig, delivered = 0): Promise<PushDeliveryState> {
    this.#checkHeld();
    await this.#cache.get(owner, config.taskId)?.whenPersisted();
    const ownerRow = this.#owners.find(owner);
    const state = ownerRow === undefined ? undefined : this.#configs.put(ownerRow, config, delivered);
    if (!state) throw taskNotFound(config.taskId);
    return state;
  }

  listPushConfigs(owner: string, taskId: string): readonly PushConfig[] {
    this.#checkOpen();
    const ownerRow = this.#owners.find(owner);
    return ownerRow === undefined ? [] : this.#configs.of(ownerRow, taskId);
  }

  deletePushConfig(owner: string, taskId: string, id: string): void {
    this.#checkHeld();
    const ownerRow = this.#owners.find(owner);
    if (ownerRow !== undefined) this.#configs.delete(ownerRow, taskId, id);
  }

  putDelivery(owner: string, taskId: string, id: string, state: PushDeliveryState): boolean {
    this.#checkOpen();
    this.#lease?.check();
    const ownerRow = this.#owners.find(owner);
    return ownerRow !== undefined && this.#configs.deliver(ownerRow, taskId, id, state);
  }

  listDeliveries(): readonly PushDelivery[] {
    this.#checkOpen();
    return this.#configs.unfinished();
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    const disk = log as SqliteTaskLog;
    disk.pending.push(change);
    if (change.kind === 'status' || change.kind === 'task') disk.isMoved = true;
    if (disk.isDirty) return;
    this.#checkOpen();
    this.#commits.add(disk);
    this.#cache.put(disk);
  }

  settled(log: InMemoryTaskLog): Promise<void> | undefined {
    return (log as SqliteTaskLog).settling();
  }

  replay(log: InMemoryTaskLog, after: number): readonly TaskChange[] | undefined {
    const { row } = (log as SqliteTaskLog).stored;
    // The first event is kept only as what became of it.
    if (row === 0 || after === 0 || this.#isClosed) return undefined;
    return this.#reader.changes(row, after, log.visible, false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#strangers.stop();
    this.#commits.flush();
    this.#isClosed = true;
    this.#lease?.release();
    try {
      this.#database.prepare('pragma wal_checkpoint(truncate)').all([]);
    } finally {
      this.#database.close();
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new A2AError('UNAVAILABLE', 'The ledger is closed');
  }

  #checkHeld(): void {
    this.#checkOpen();
    if (!this.#lease) {
      throw new A2AError(
        'UNSUPPORTED_OPERATION',
        'The ledger was opened as a guest, which changes no tasks',
        {
          hint: 'Open the file without guest: true.',
        },
      );
    }
    this.#lease.check();
  }

  #committed(log: SqliteTaskLog): void {
    if (this.#messages.size > 0 && log.stored.messageId !== null) {
      this.#messages.delete(taskCacheKey(log.owner, log.stored.messageId));
    }
    if (log.fault) {
      this.#cache.drop(log);
      return;
    }
    if (log.retainedCount > keptChanges * 2) log.trim(keptChanges);
    this.#cache.put(log);
  }

  /** Takes over what other processes did to a task. @returns false when the log is of no use any more. */
  #refresh(log: SqliteTaskLog): boolean {
    // What waits here is compared with the disk when it is written.
    if (log.isDirty) return true;
    log.comparedAt = this.#strangers.version;
    const place = this.#reader.place(log.stored.row);
    if (!place || place.sequence < log.sequence) {
      this.#cache.drop(log);
      return false;
    }
    if (place.sequence === log.sequence) return true;
    const changes = this.#reader.changes(place.row, log.sequence, place.sequence, true);
    log.stored = place;
    log.receive(changes);
    return true;
  }

  #refreshFollowed(): void {
    for (const log of this.#cache.logs()) if (log.isFollowed) this.#refresh(log);
  }
}
