import { backoffDelay } from '../../primitives/backoff.ts';
import { A2AError, taskConflict } from '../../protocol/errors.ts';
import { type Outage, OutageTracker } from '../../protocol/outage.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';
import {
  buildShare,
  type CommitShare,
  type CommitStatement,
  isCurrentShare,
  recordStored,
} from './commit-statement.ts';
import type { HeldTaskLog } from '../durable/held-task-log.ts';

/** Logs per commit: bounds the size of a statement. */
const maxGroupSize = 512;

/** Statements on their way at a time: this process prepares one while the database executes another. */
const maxStatements = 2;

/** Waiting tasks for which a second statement is sent. Fewer wait for the first, because a statement has a fixed cost. */
const minSecondGroup = 16;

/** Delays between the attempts to write during an outage. */
const retryBackoff = { minDelay: 50, maxDelay: 1_000, jitter: 'equal' } as const;

/** Collaborators of {@link PostgresGroupCommit}. */
export interface PostgresGroupCommitContext {
  readonly now: () => number;
  /** The epoch of this replica. @throws {@link A2AError} if this store may not write. */
  readonly epoch: () => number;
  /** Called for each log after its changes were stored. */
  onStored(log: HeldTaskLog): void;
  /** Called for each log whose changes were refused because another replica holds the task. */
  onRefused(log: HeldTaskLog, error: A2AError): void;
  /** Called for each log whose changes can never be stored. */
  onFailed(log: HeldTaskLog, error: A2AError): void;
  /** Called with the tasks of one commit, and the milliseconds that it took. */
  onCommit(keys: readonly number[], milliseconds: number): void;
  /** Called with the error at the start of an outage, and without one at its end. */
  readonly onOutage: ((error?: A2AError) => void) | undefined;
}

/** A task that waits for its first commit. */
interface Creation {
  readonly log: HeldTaskLog;
  readonly resolve: (isCreated: boolean) => void;
  readonly reject: (error: A2AError) => void;
}

/**
 * Group commit: one statement stores everything that was appended since the last one was sent. At most two statements are on
 * their way at a time, so that groups grow with the load. A task is in one of them only.
 *
 * If the database does not respond, an outage begins: changes of stored tasks stay pending and are sent again; new tasks are
 * rejected.
 */
export class PostgresGroupCommit {
  readonly #statement: CommitStatement;
  readonly #context: PostgresGroupCommitContext;
  readonly #outage = new OutageTracker();
  #dirty: HeldTaskLog[] = [];
  #creations: Creation[] = [];
  /** Shares of a commit whose outcome is unknown, because its connection broke. */
  #unsettled: readonly CommitShare[] = [];
  #scheduled: NodeJS.Immediate | undefined = undefined;
  #retry: NodeJS.Timeout | undefined = undefined;
  readonly #running = new Set<Promise<void>>();
  #failures = 0;
  #isStopped = false;

  constructor(statement: CommitStatement, context: PostgresGroupCommitContext) {
    this.#statement = statement;
    this.#context = context;
  }

  /** The current outage, if the database does not respond. */
  get outage(): Outage | undefined {
    return this.#outage.current;
  }

  /** Adds a log with changes to the next group. */
  add(log: HeldTaskLog): void {
    if (log.isDirty) return;
    log.isDirty = true;
    this.#dirty.push(log);
    this.#schedule();
  }

  /** Stores a new task. @returns false if its id or its message is known. */
  create(log: HeldTaskLog): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#creations.push({ log, resolve, reject });
      this.#schedule();
    });
  }

  /** Begins an outage, or continues it, and schedules the next attempt. */
  suspend(error: TemporaryStorageError): void {
    if (this.#isStopped) return;
    if (this.#outage.begin(error)) this.#context.onOutage?.(error);
    this.#retry ??= setTimeout(
      () => {
        this.#retry = undefined;
        this.#start();
      },
      backoffDelay(this.#failures++, retryBackoff),
    );
  }

  /** Commits everything that is pending. */
  async flush(): Promise<void> {
    for (;;) {
      if (this.#waiting > 0 && !this.#retry && !this.#isStopped) this.#start();
      if (this.#running.size === 0) return;
      await Promise.race(this.#running);
    }
  }

  /** Tasks that wait for a statement. */
  get #waiting(): number {
    return this.#dirty.length + this.#creations.length;
  }

  #start(): void {
    const running = this.#commitGroup().finally(() => {
      this.#running.delete(running);
      if (this.#waiting > 0) this.#schedule();
    });
    this.#running.add(running);
  }

  /** Stops the attempts and abandons everything that is pending. */
  stop(error: A2AError): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    if (this.#scheduled) clearImmediate(this.#scheduled);
    const logs = new Set([...this.#unsettled.map(({ log }) => log), ...this.#dirty]);
    this.#unsettled = [];
    this.#dirty = [];
    for (const { reject } of this.#creations.splice(0)) reject(error);
    for (const log of logs) this.#context.onFailed(log, error);
    this.#outage.end();
  }

  #schedule(): void {
    if (this.#scheduled || this.#retry || this.#isStopped || !this.#mayStart()) return;
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#waiting > 0 && !this.#retry) this.#start();
    });
  }

  #mayStart(): boolean {
    const { size } = this.#running;
    return size === 0 || (size < maxStatements && this.#waiting >= minSecondGroup);
  }

  async #commitGroup(): Promise<void> {
    if (this.#isStopped) return;
    const isRetry = this.#unsettled.length > 0;
    const creations = this.#creations.splice(0, maxGroupSize);
    const shares = isRetry ? this.#unsettled.filter(isCurrentShare) : this.#takeShares();
    this.#unsettled = [];
    if (shares.length === 0 && creations.length === 0 && !this.outage) return;
    if (await this.#storeGroup(creations, shares, isRetry)) this.#endOutage();
  }

  /** @returns false if an outage begins or continues. */
  async #storeGroup(
    creations: readonly Creation[],
    shares: readonly CommitShare[],
    isRetry: boolean,
  ): Promise<boolean> {
    try {
      await this.#store(creations, shares, isRetry);
      return true;
    } catch (thrown) {
      return this.#handleFailure(A2AError.from(thrown), creations, shares, isRetry);
    }
  }

  #takeShares(): CommitShare[] {
    const shares: CommitShare[] = [];
    for (const log of new Set(this.#dirty.splice(0, maxGroupSize))) {
      if (!log.isDirty) continue;
      try {
        shares.push(buildShare(log));
      } catch (thrown) {
        this.#context.onFailed(log, A2AError.from(thrown));
      }
    }
    return shares;
  }

  async #store(
    creations: readonly Creation[],
    shares: readonly CommitShare[],
    isRetry: boolean,
  ): Promise<void> {
    const { epoch, now } = this.#context;
    const logs = creations.map(({ log }) => log);
    const startedAt = performance.now();
    const { created, changed } = await this.#statement.run(epoch(), logs, shares, now());
    const milliseconds = performance.now() - startedAt;
    const refused = shares.filter(({ log }) => !changed.has(log.stored.row));
    const applied =
      isRetry && refused.length > 0 ? await this.#statement.findApplied(refused) : new Set<number>();
    for (const [index, { log, resolve }] of creations.entries()) {
      const key = created.get(index);
      if (key !== undefined) recordCreated(log, key);
      resolve(key !== undefined);
    }
    const keys: number[] = [...created.values()];
    for (const share of shares) {
      const { row } = share.log.stored;
      if (changed.has(row) || applied.has(row)) {
        keys.push(row);
        this.#settle(share);
      } else if (isCurrentShare(share)) this.#context.onRefused(share.log, taskConflict(share.log.id));
    }
    if (keys.length > 0) this.#context.onCommit(keys, milliseconds);
  }

  #settle(share: CommitShare): void {
    const { log } = share;
    // This replica lost the task meanwhile, and the log already follows the new holder.
    if (!isCurrentShare(share)) return;
    recordStored(share);
    if (share.isRelease) {
      log.isHeld = false;
      log.isReleasing = false;
    }
    log.commitSucceeded(share.sequence);
    if (log.isDirty) this.#dirty.push(log);
    // Released after the statement was sent.
    else if (log.isReleasing) this.add(log);
    this.#context.onStored(log);
  }

  async #handleFailure(
    error: A2AError,
    creations: readonly Creation[],
    shares: readonly CommitShare[],
    isRetry: boolean,
  ): Promise<boolean> {
    if (error instanceof TemporaryStorageError) {
      // The client of a new task receives the error and repeats its request.
      for (const { reject } of creations) reject(error);
      this.#unsettled = [...this.#unsettled, ...shares];
      for (const { log } of shares) log.commitDelayed(error);
      this.suspend(error);
      return false;
    }
    // One change that the database does not accept must not affect the others.
    if (creations.length + shares.length === 1) {
      for (const { reject } of creations) reject(error);
      for (const { log } of shares) this.#context.onFailed(log, error);
      return true;
    }
    let isAvailable = true;
    for (const creation of creations)
      isAvailable = (await this.#storeGroup([creation], [], isRetry)) && isAvailable;
    for (const share of shares) isAvailable = (await this.#storeGroup([], [share], isRetry)) && isAvailable;
    return isAvailable;
  }

  #endOutage(): void {
    this.#failures = 0;
    if (this.#outage.end()) this.#context.onOutage?.();
  }
}

function recordCreated(log: HeldTaskLog, key: number): void {
  const { stored } = log;
  stored.row = key;
  stored.state = log.state;
  stored.sequence = log.sequence;
  log.changesSize = 0;
  log.commitSucceeded();
}
