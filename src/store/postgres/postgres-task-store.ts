import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { type A2AError, taskConflict } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Outage } from '../../protocol/outage.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { ReplicaEvent } from '../../metrics/replica-metrics.ts';
import type { ListTasksRequest, TaskPage } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import { TaskSizeLimit } from '../durable/task-size-limit.ts';
import { LogCache } from '../durable/log-cache.ts';
import { closedError, withoutLeaseError } from '../durable/store-access-errors.ts';
import { waitForEvent } from '../durable/wait-for-event.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';
import type { InMemoryTaskLog } from '../in-memory-log.ts';
import type {
  PushDelivery,
  PushDeliveryState,
  TaskCommand,
  TaskLog,
  TaskStore,
  UnfinishedTask,
} from '../task-store.ts';
import { CommitStatement } from './commit-statement.ts';
import type { PostgresConnection } from './connection.ts';
import { HoldDoubts } from './replicas/hold-doubts.ts';
import { LogFollower } from './replicas/log-follower.ts';
import { PostgresGroupCommit } from './postgres-group-commit.ts';
import { PostgresOwnerTable } from './postgres-owner-table.ts';
import { PostgresPushConfigTable } from './postgres-push-config-table.ts';
import { type HoldBackend, HeldTaskLog } from '../durable/held-task-log.ts';
import { PostgresTaskExpiry } from './postgres-task-expiry.ts';
import type { PostgresTaskStoreSettings } from './postgres-task-store-settings.ts';
import { PostgresTaskPages } from './postgres-task-pages.ts';
import { PostgresTaskReader } from './postgres-task-reader.ts';
import { PostgresStoreReplica } from './replicas/postgres-store-replica.ts';
import { Replica } from './replicas/replica.ts';
import { TaskClaims } from './replicas/task-claims.ts';
import { TaskHolds } from './replicas/task-holds.ts';
import { WakeUps } from './replicas/wake-ups.ts';
import { WorkMonitor } from './replicas/work-monitor.ts';

/** Changes of a running task that stay in memory. Slow subscribers read older ones from the database. */
const maxRetainedChanges = 1_000;

/** Task store in PostgreSQL, shared by all replicas of an agent. */
export class PostgresTaskStore implements TaskStore, HoldBackend {
  readonly isShared = true;
  readonly rejectsKnownMessages = true;
  onHandOver: (() => void) | undefined = undefined;
  onCommand: TaskStore['onCommand'] = undefined;
  readonly reserveFor = (name: string): Promise<void> => this.#settings.reserveFor(name);
  readonly #settings: PostgresTaskStoreSettings;
  readonly #owners: PostgresOwnerTable;
  readonly #reader: PostgresTaskReader;
  readonly #configs: PostgresPushConfigTable;
  readonly #expiry: PostgresTaskExpiry;
  readonly #holds: TaskHolds;
  readonly #commits: PostgresGroupCommit;
  readonly #cache: LogCache<HeldTaskLog>;
  readonly #replica: Replica;
  readonly #wakeUps: WakeUps;
  readonly #follower: LogFollower;
  readonly #work: WorkMonitor;
  readonly #pages: PostgresTaskPages;
  readonly replica: PostgresStoreReplica;
  readonly #doubts: HoldDoubts;
  readonly #claims: TaskClaims;
  readonly #sizeLimit: TaskSizeLimit;
  #stopPolling: (() => void) | undefined = undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, settings: PostgresTaskStoreSettings) {
    const { schema, clock, onOutage } = settings;
    this.#settings = settings;
    this.#sizeLimit = new TaskSizeLimit(settings.maxTaskBytes);
    this.#owners = new PostgresOwnerTable(connection, schema);
    this.#reader = new PostgresTaskReader(connection, schema);
    this.#pages = new PostgresTaskPages(this.#owners, this.#reader, settings.pageTokenKey);
    this.#configs = new PostgresPushConfigTable(connection, schema, this.#owners);
    this.#expiry = new PostgresTaskExpiry(connection, schema);
    this.#holds = new TaskHolds(connection, schema);
    this.#cache = new LogCache(settings.maxCachedTasks, settings.maxCachedBytes);
    this.#doubts = new HoldDoubts(connection, this.#holds, this.#cache, clock);
    this.replica = new PostgresStoreReplica(connection, {
      schema,
      cache: this.#cache,
      hasOutage: () => this.outage() !== undefined,
      hasWakeUps: () => (settings.useWakeUps ? this.#wakeUps.isActive : undefined),
    });
    const report = (event: ReplicaEvent): void => this.replica.onEvent?.(event);
    this.#replica = new Replica(connection, schema, {
      name: settings.replicaName,
      version: settings.version,
      lease: settings.lease,
      clock,
      onLost: () => this.#cache.logs().forEach((log) => this.#lose(log)),
      onLapsed: () => this.#follower.checkHolds(),
      onError: (error) => {
        if (error instanceof TemporaryStorageError) this.#commits.suspend(error);
      },
    });
    this.#wakeUps = new WakeUps(connection, {
      channel: settings.channel,
      clock,
      onArrival: (sentAt) => {
        this.#replica.noticeOther();
        report({ kind: 'wake-up', milliseconds: Math.max(0, this.#replica.databaseTime() - sentAt) });
      },
      isKnown: (key) => this.#cache.getByRow(key) !== undefined,
      onTasks: (keys) => this.#follower.wake(keys),
      onWork: () => void this.#work.check(),
      onListener: () => this.#follower.followAgain(),
      onStateChange: (isActive) => settings.onWakeUps?.(isActive),
    });
    this.#follower = new LogFollower(this.#reader, this.#cache, {
      isFollowed: (log) => !log.isHeld || !this.#replica.isCurrent,
      epoch: () => this.#replica.epoch,
      term: () => this.#replica.term,
      requestWakeUps: (key) => this.#wakeUps.follow(key),
      onUnknownHold: (log) => this.#doubts.noticeHold(log),
      lose: (log) => this.#lose(log),
    });
    this.#claims = new TaskClaims({
      holds: this.#holds,
      doubts: this.#doubts,
      follower: this.#follower,
      replica: this.#replica,
      cache: this.#cache,
      owners: this.#owners,
      onTakeover: (tasks) => report({ kind: 'takeover', tasks }),
    });
    this.#work = new WorkMonitor(this.#holds, this.#doubts, {
      epoch: () => this.#replica.epoch,
      isActive: () => !settings.withoutLease && !this.#isClosed && !this.outage(),
      onOrphans: () => this.onHandOver?.(),
      onCommand: async ({ owner, id, command }) => {
        const log = await this.open(owner, id);
        if (!log) return;
        report({ kind: 'command-executed' });
        this.onCommand?.(log, command);
      },
    });
    this.#commits = new PostgresGroupCommit(new CommitStatement(connection, schema), {
      now: settings.now,
      epoch: () => this.#replica.epoch,
      onStored: (log) => this.#stored(log),
      onRefused: (log) => {
        report({ kind: 'fenced' });
        this.#lose(log);
      },
      onFailed: (log, error) => this.#abandon(log, error),
      onCommit: (keys, milliseconds) => {
        report({ kind: 'commit', tasks: keys.length, milliseconds });
        if (settings.useWakeUps && this.#replica.hasOthers) this.#wakeUps.announce(keys);
      },
      onOutage,
    });
  }

  /** Registers this replica and starts to follow the others. */
  async start(): Promise<void> {
    const { clock, pollInterval, useWakeUps, withoutLease } = this.#settings;
    if (!withoutLease) await this.#replica.start();
    if (useWakeUps) void this.#wakeUps.start();
    this.#stopPolling = clock.every(pollInterval, () => {
      this.#follower.wake(undefined);
      void this.#work.check();
    });
  }

  outage(): Outage | undefined {
    return this.#commits.outage;
  }

  async create(owner: string, task: Task, key?: string): Promise<TaskLog> {
    this.#checkWritable();
    const ownerRow = this.#owners.cached(owner) ?? (await this.#owners.insert(owner));
    const log = new HeldTaskLog(this, owner, task);
    this.#sizeLimit.checkNew(log);
    log.visible = 0;
    log.pending.push({ kind: 'task', task, sequence: 1 });
    log.ownerRow = ownerRow;
    log.stored.messageId = key ?? null;
    log.isHeld = true;
    const { term } = this.#replica;
    await this.#doubts.create(log, async () => {
      if (await this.#commits.create(log)) return;
      const known = key === undefined ? undefined : await this.#reader.find(ownerRow, key);
      throw taskConflict(known ?? task.id);
    });
    if (term !== this.#replica.term) {
      // The lease has ended before the answer arrived, so another replica may hold the task.
      log.isHeld = false;
      await this.#doubts.claim(log, () => this.#follower.adopt(log));
    }
    return log;
  }

  open(owner: string, id: string): MaybePromise<TaskLog | undefined> {
    this.#checkOpen();
    const cached = this.#cache.get(owner, id);
    if (cached?.isHeld && this.#replica.isCurrent) return cached;
    // A task that is being created would get a second log.
    if (!cached)
      return this.#doubts.whenCreated(owner, id)?.then(() => this.open(owner, id)) ?? this.#load(owner, id);
    return this.#follower.refresh(cached).then((exists) => (exists ? cached : undefined));
  }

  async #load(owner: string, id: string): Promise<TaskLog | undefined> {
    const ownerRow = await this.#owners.find(owner);
    const { term } = this.#replica;
    const loaded = ownerRow === undefined ? undefined : await this.#reader.load(ownerRow, id);
    if (ownerRow === undefined || !loaded) return undefined;
    const isOutdated = term !== this.#replica.term || this.#doubts.whenCreated(owner, id) !== undefined;
    // Another call may have loaded or created it meanwhile, or the lease has ended and another replica may hold it.
    if (isOutdated || this.#cache.get(owner, id)) return this.open(owner, id);
    const log = new HeldTaskLog(this, owner, loaded.task, loaded.sequence);
    log.ownerRow = ownerRow;
    const { row, state, sequence, snapshotAt, messageId } = loaded;
    Object.assign(log.stored, { row, state, sequence, snapshotAt, messageId });
    log.snapshotSize = loaded.snapshotSize;
    log.changesSize = loaded.changesSize;
    log.bytes = loaded.snapshotSize + loaded.changesSize;
    log.isHeld = loaded.holder === this.#replica.epoch && this.#claims.hasTakenOver(owner, id);
    this.#cache.put(log);
    return log;
  }

  async findByKey(owner: string, key: string): Promise<string | undefined> {
    this.#checkOpen();
    const ownerRow = await this.#owners.find(owner);
    return ownerRow === undefined ? undefined : this.#reader.find(ownerRow, key);
  }

  async list(owner: string, request: ListTasksRequest): Promise<TaskPage> {
    this.#checkOpen();
    return this.#pages.list(owner, request);
  }

  async listUnfinished(): Promise<readonly UnfinishedTask[]> {
    this.#checkOpen();
    return this.#holds.listUnfinished();
  }

  async handOver(tasks: readonly UnfinishedTask[]): Promise<void> {
    this.#checkWritable();
    await this.#claims.handOver(tasks);
    if (this.#settings.useWakeUps) this.#wakeUps.announceWork();
  }

  async takeOver(): Promise<readonly UnfinishedTask[]> {
    this.#checkWritable();
    return this.#claims.takeOver();
  }

  async command(log: TaskLog, command: TaskCommand, isDone: (event: StreamEvent) => boolean): Promise<void> {
    this.#checkWritable();
    const { pollInterval, clock } = this.#settings;
    const answered = waitForEvent(log, isDone, pollInterval, clock);
    await this.#holds.addCommand((log as HeldTaskLog).stored.row, command);
    this.replica.onEvent?.({ kind: 'command-sent' });
    if (this.#settings.useWakeUps) this.#wakeUps.announceWork();
    await answered;
  }

  async expire(before: Date): Promise<number> {
    this.#checkOpen();
    return this.#expiry.run(before.getTime(), (owner, id) => {
      const log = this.#cache.get(owner, id);
      if (log) this.#cache.drop(log);
    });
  }

  async putPushConfig(owner: string, config: PushConfig, delivered = 0): Promise<PushDeliveryState> {
    this.#checkWritable();
    return this.#configs.put(owner, config, delivered, this.#replica.epoch);
  }

  readonly listPushConfigs: TaskStore['listPushConfigs'] = (owner, taskId) =>
    this.#configs.list(owner, taskId);

  readonly deletePushConfig: TaskStore['deletePushConfig'] = (owner, taskId, id) =>
    this.#configs.delete(owner, taskId, id);

  readonly putDelivery: TaskStore['putDelivery'] = (owner, taskId, id, state) =>
    this.#configs.putDelivery(owner, taskId, id, state, this.#replica.epoch);

  readonly listDeliveries: TaskStore['listDeliveries'] = () => this.#configs.listDeliveries();

  readonly findHeldPushConfig: NonNullable<TaskStore['findHeldPushConfig']> = (owner, taskId, id) =>
    this.#configs.findHeld(owner, taskId, id, this.#replica.epoch);

  async takeOverDeliveries(): Promise<readonly PushDelivery[]> {
    this.#checkWritable();
    const { epoch } = this.#replica;
    const held = this.#doubts.takeWebhooks() ? await this.#configs.listHeld(epoch) : [];
    return [...held, ...(await this.#configs.takeOver(epoch))];
  }

  async releaseDeliveries(): Promise<void> {
    this.#checkWritable();
    if ((await this.#configs.release(this.#replica.epoch)) && this.#settings.useWakeUps)
      this.#wakeUps.announceWork();
  }

  admit(log: InMemoryTaskLog, change: TaskChange, size: number): void {
    this.#sizeLimit.checkChange(log, change, size);
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    const stored = log as HeldTaskLog;
    stored.pending.push(change);
    if (change.kind === 'status' || change.kind === 'task') stored.hasStatusChange = true;
    if (stored.isDirty) return;
    this.#checkOpen();
    this.#commits.add(stored);
    this.#cache.put(stored);
  }

  whenPersisted(log: InMemoryTaskLog): Promise<void> | undefined {
    const stored = log as HeldTaskLog;
    const { outage } = this.#commits;
    return outage && stored.isDirty ? Promise.reject(outage.error) : stored.whenCommitted();
  }

  replay(log: InMemoryTaskLog, after: number): Promise<readonly TaskChange[]> {
    return this.#reader.replay((log as HeldTaskLog).stored.row, after, log.visible, log);
  }

  claim(log: HeldTaskLog): MaybePromise<boolean> {
    this.#checkWritable();
    return this.#claims.claim(log);
  }

  readonly follow = (log: HeldTaskLog): void => this.#follower.follow(log);

  readonly refresh = (log: HeldTaskLog): Promise<boolean> => this.#follower.refresh(log);

  release(log: HeldTaskLog): void {
    if (this.#isClosed) return;
    log.isReleasing = true;
    this.#commits.add(log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#stopPolling?.();
    if (!this.outage()) await this.#commits.flush();
    this.#isClosed = true;
    this.#commits.stop(closedError());
    // Without the database, the lease ends by itself.
    await this.#replica.end().catch(() => undefined);
    if (this.#settings.useWakeUps && this.#replica.hasOthers) this.#wakeUps.announceWork();
    await this.#wakeUps.stop();
    await this.#settings.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError();
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (this.#settings.withoutLease) throw withoutLeaseError();
    if (this.#commits.outage) throw this.#commits.outage.error;
  }

  #stored(log: HeldTaskLog): void {
    if (log.retainedCount > maxRetainedChanges * 2) log.trim(maxRetainedChanges);
    this.#cache.put(log);
  }

  #lose(log: HeldTaskLog): void {
    if (!log.isHeld) return;
    log.lose();
    void this.#follower.refresh(log).catch(() => undefined);
  }

  #abandon(log: HeldTaskLog, error: A2AError): void {
    log.commitFailed(error);
    this.#cache.drop(log);
    log.onAbandoned?.(log, error);
  }
}
