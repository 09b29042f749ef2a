import type { Clock } from '../../../primitives/clock.ts';
import { mapResolved, type MaybePromise } from '../../../primitives/maybe-promise.ts';
import { A2AError, taskConflict } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';
import type { LogCache } from '../../durable/log-cache.ts';
import { waitForEvent } from '../../durable/wait-for-event.ts';
import type { PushDelivery, TaskCommand, TaskLog, UnfinishedTask } from '../../task-store.ts';
import type { Database, SqlRow } from '../database.ts';
import type { Lease } from '../lease/lease.ts';
import type { PushConfigTable } from '../push-config-table.ts';
import type { TaskReader } from '../task-reader.ts';
import { CommandTable } from './command-table.ts';
import { DeliveryHolderTable } from './delivery-holder-table.ts';
import { EndedProcesses } from './ended-processes.ts';
import { HandOverTable } from './hand-over-table.ts';
import { TaskHolderTable } from './task-holder-table.ts';

/** Milliseconds for which the sender of a command waits for an answer before it reads the task again. */
const commandTimeout = 1_000;

/** Collaborators of {@link SharedTasks}. */
interface SharedTasksContext {
  readonly lease: Lease;
  readonly clock: Clock;
  readonly now: () => number;
  readonly reader: TaskReader;
  readonly cache: LogCache<HeldTaskLog>;
  /** Adds a log to the next commit. */
  readonly add: (log: HeldTaskLog) => void;
  /** Writes in a transaction, now or when no other process holds a lock. */
  readonly write: <T>(write: () => T) => MaybePromise<T>;
  readonly open: (owner: string, id: string) => TaskLog | undefined;
  /** Applies changes of other processes. @returns false if the task was deleted. */
  readonly refresh: (log: HeldTaskLog) => boolean;
  readonly onOrphans: () => void;
  readonly onCommand: (log: TaskLog, command: TaskCommand) => void;
}

/** What the processes on a shared file leave to each other: tasks, by their holders, and commands. */
export class SharedTasks {
  readonly holders: TaskHolderTable;
  /** Webhooks to which this process delivers. */
  readonly deliveries: { readonly holders: DeliveryHolderTable; readonly token: () => string };
  readonly #context: SharedTasksContext;
  readonly #handOvers: HandOverTable;
  readonly #commands: CommandTable;
  readonly #endedProcesses: EndedProcesses;

  constructor(database: Database, context: SharedTasksContext) {
    const { lease, clock, now } = context;
    const token = (): string => lease.token;
    this.#context = context;
    this.holders = new TaskHolderTable(database, token);
    this.deliveries = { holders: new DeliveryHolderTable(database, token), token };
    this.#handOvers = new HandOverTable(database, this.holders);
    this.#commands = new CommandTable(database, now);
    this.#endedProcesses = new EndedProcesses(database, token, () => context.onOrphans(), clock);
  }

  /** Looks for what other processes have left to this one, after one of them has written to the file. */
  check(): void {
    if (!this.#handOvers.isEmpty || !this.deliveries.holders.isEmpty) this.#context.onOrphans();
    if (!this.#commands.isEmpty(this.#context.lease.token)) void this.#executeCommands();
  }

  async #executeCommands(): Promise<void> {
    const { lease, open, onCommand, write } = this.#context;
    try {
      for (const { owner, id, command } of await write(() => this.#commands.take(lease.token))) {
        const log = open(owner, id);
        if (log) onCommand(log, command);
      }
    } catch {
      // Senders read their tasks and try again.
    }
  }

  /** Stores a new task. Rejects one whose id or message another process has stored. */
  async create(log: HeldTaskLog): Promise<TaskLog> {
    const { messageId } = log.stored;
    log.isHeld = true;
    this.#context.add(log);
    try {
      await log.whenCommitted();
    } catch (error) {
      if (A2AError.from(error).reason !== 'CONFLICT') throw error;
      const known = messageId === null ? undefined : this.#context.reader.find(log.ownerRow, messageId);
      throw taskConflict(known ?? log.id);
    }
    return log;
  }

  /** Returns true if this process still holds a task, by its lease in the file. */
  isHolder(log: HeldTaskLog): boolean {
    if (!log.isHeld) return false;
    const { lease } = this.#context;
    try {
      lease.check();
    } catch {
      lease.replace();
    }
    return log.isHeld;
  }

  claim(log: HeldTaskLog): MaybePromise<boolean> {
    return log.isHeld && !log.isReleasing ? true : this.#claim(log);
  }

  async #claim(log: HeldTaskLog): Promise<boolean> {
    const { write, refresh } = this.#context;
    // A release may be on its way.
    await log.whenPersisted();
    const isHolder = await write(() => this.holders.claim(log.stored.row));
    if (!log.isHeld) refresh(log);
    log.isHeld = isHolder;
    // The next attempt succeeds if the process of the holder has ended.
    if (!isHolder) this.#endedProcesses.check();
    return isHolder;
  }

  handOver(tasks: readonly UnfinishedTask[]): MaybePromise<void> {
    const { open, write } = this.#context;
    const logs = tasks.flatMap(({ owner, id }) => (open(owner, id) as HeldTaskLog | undefined) ?? []);
    const leave = (): void => {
      for (const { stored } of logs) this.holders.leave(stored.row);
    };
    return mapResolved(write(leave), () => {
      for (const log of logs) log.isHeld = false;
    });
  }

  takeOver(): MaybePromise<readonly UnfinishedTask[]> {
    const { lease, reader, cache, refresh, write } = this.#context;
    this.#endedProcesses.check();
    if (this.#handOvers.isEmpty) return [];
    const take = (): readonly SqlRow[] => {
      lease.check();
      return this.#handOvers.take();
    };
    return mapResolved(write(take), (rows) => {
      const tasks = reader.toUnfinished(rows);
      for (const { owner, id } of tasks) {
        const log = cache.get(owner, id);
        if (log && !log.isHeld) log.isHeld = refresh(log);
      }
      return tasks;
    });
  }

  /** Claims webhooks of processes that have released them or have ended. */
  takeOverDeliveries(configs: PushConfigTable): MaybePromise<readonly PushDelivery[]> {
    const { lease, write } = this.#context;
    if (this.deliveries.holders.isEmpty) return [];
    return write(() => {
      lease.check();
      return configs.takeOver();
    });
  }

  releaseDeliveries(): MaybePromise<void> {
    return this.#context.write(() => this.deliveries.holders.release());
  }

  async command(log: TaskLog, command: TaskCommand, isDone: (event: StreamEvent) => boolean): Promise<void> {
    const { write, clock } = this.#context;
    const answered = waitForEvent(log, isDone, commandTimeout, clock);
    await write(() => this.#commands.add((log as HeldTaskLog).stored.row, command));
    await answered;
  }

  /** Follows the processes that have taken over the tasks of this one. */
  loseAll(): void {
    const { cache, refresh } = this.#context;
    for (const log of cache.logs()) {
      if (!log.isHeld) continue;
      log.lose();
      refresh(log);
    }
  }

  stop(): void {
    this.#endedProcesses.stop();
  }
}
