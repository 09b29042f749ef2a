/**
 * Tasks in the memory of this process: the ledger that needs no set-up.
 *
 * @module
 */
import { A2AError, taskNotFound } from '../protocol/errors.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import { isTerminal, type Task } from '../protocol/task.ts';
import type { PushDelivery, TaskStore, TaskLog } from './task-store.ts';
import { InMemoryTaskLog, type LogBackend } from './in-memory-log.ts';
import { OwnerTasks, type TaskRecord, type PushConfigRecord, materializeTask } from './owner-tasks.ts';

/** How much a ledger in memory keeps. */
export interface MemoryTaskStoreOptions {
  /**
   * How many tasks are kept; beyond that, the ones that finished first are forgotten.
   * @defaultValue 250,000
   */
  maxTasks?: number;
  /**
   * For how many milliseconds a finished task is kept.
   * @defaultValue 7 days
   */
  maxAge?: number;
  /**
   * How many events of finished tasks are kept, for readers that lost their connection; the newest of these tasks
   * keeps all of its own. Of older tasks what the events amount to is kept.
   * @defaultValue 5,000
   */
  maxReplayableEvents?: number;
  /**
   * How many events of one running task are kept; a reader that is further behind gets the task as it stands.
   * @defaultValue 10,000
   */
  maxEvents?: number;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/** A log that knows its place on a shelf. */
class ArchivedTaskLog extends InMemoryTaskLog {
  shelved: TaskRecord | undefined = undefined;
}

/** Keeps tasks in memory, bounded by count and age. */
export function memoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  return new MemoryTaskStore(options);
}

class MemoryTaskStore implements TaskStore, LogBackend {
  #shelves = new Map<string, OwnerTasks>();
  #touched = 0;
  #count = 0;
  /** Finished tasks, the first to finish first. Those before `#forgotten` are gone, those before `#frozen` have no log. */
  #finished: (TaskRecord | undefined)[] = [];
  #forgotten = 0;
  #frozen = 0;
  /** How many events the finished tasks that still have a log keep. */
  #replayable = 0;
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
    let shelf = this.#shelves.get(owner);
    if (!shelf) this.#shelves.set(owner, (shelf = new OwnerTasks(owner)));
    if (shelf.tasks.has(task.id)) throw new A2AError('CONFLICT', undefined, { details: { taskId: task.id } });
    const log = new ArchivedTaskLog(this, owner, task);
    const shelved: TaskRecord = {
      touched: ++this.#touched,
      shelf,
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
    };
    log.shelved = shelved;
    shelf.tasks.set(task.id, shelved);
    if (messageId !== undefined) shelf.byMessage.set(messageId, task.id);
    shelf.add(shelved);
    this.#count++;
    if (isTerminal(task.status.state)) this.#finish(shelved);
    this.#makeRoom();
    return log;
  }

  open(owner: string, id: string): TaskLog | undefined {
    const shelved = this.#shelves.get(owner)?.tasks.get(id);
    if (!shelved) return undefined;
    return shelved.log ?? new InMemoryTaskLog(this, owner, materializeTask(shelved), shelved.sequence);
  }

  findByMessageId(owner: string, messageId: string): string | undefined {
    return this.#shelves.get(owner)?.byMessage.get(messageId);
  }

  list: TaskStore['list'] = (owner, request) =>
    (this.#shelves.get(owner) ?? new OwnerTasks(owner)).list(request);

  listUnfinished: TaskStore['listUnfinished'] = () => {
    const unfinished: { owner: string; id: string }[] = [];
    for (const shelf of this.#shelves.values()) {
      for (const { id, state } of shelf.tasks.values()) {
        if (state === 'submitted' || state === 'working') unfinished.push({ owner: shelf.owner, id });
      }
    }
    return unfinished;
  };

  expire(before: Date): number {
    return this.#forgetWhile((shelved) => shelved.changedAt < before.getTime());
  }

  appended(log: InMemoryTaskLog, change: TaskChange): void {
    log.publish();
    const { shelved } = log as ArchivedTaskLog;
    if (!shelved) return;
    if (log.retainedCount > this.#maxEvents * 2) log.trim(this.#maxEvents);
    if (change.kind === 'status' || change.kind === 'task') this.#move(shelved, log);
  }

  settled(): undefined {
    return undefined;
  }

  replay(): undefined {
    return undefined;
  }

  putPushConfig: TaskStore['putPushConfig'] = (owner, config, delivered = 0) => {
    const shelved = this.#shelves.get(owner)?.tasks.get(config.taskId);
    if (!shelved) throw taskNotFound(config.taskId);
    const there = this.#subscribed(owner, config.taskId, config.id);
    const state = { delivered: there?.state.delivered ?? delivered, attempts: 0 };
    if (there) Object.assign(there, { config, state });
    else (shelved.configs ??= []).push({ config, state });
    return state;
  };

  listPushConfigs: TaskStore['listPushConfigs'] = (owner, taskId) =>
    (this.#shelves.get(owner)?.tasks.get(taskId)?.configs ?? []).map(({ config }) => config);

  deletePushConfig: TaskStore['deletePushConfig'] = (owner, taskId, id) => {
    const shelved = this.#shelves.get(owner)?.tasks.get(taskId);
    if (shelved?.configs) shelved.configs = shelved.configs.filter(({ config }) => config.id !== id);
  };

  putDelivery: TaskStore['putDelivery'] = (owner, taskId, id, state) => {
    const there = this.#subscribed(owner, taskId, id);
    if (there) there.state = state;
    return there !== undefined;
  };

  listDeliveries: TaskStore['listDeliveries'] = () => {
    const deliveries: PushDelivery[] = [];
    for (const { owner, tasks } of this.#shelves.values()) {
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

  #subscribed(owner: string, taskId: string, id: string): PushConfigRecord | undefined {
    const configs = this.#shelves.get(owner)?.tasks.get(taskId)?.configs;
    return configs?.find(({ config }) => config.id === id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shelves.clear();
    this.#finished = [];
  }

  #move(shelved: TaskRecord, log: InMemoryTaskLog): void {
    shelved.shelf.displace(shelved);
    const wasFinished = isTerminal(shelved.state);
    shelved.state = log.state;
    shelved.touched = ++this.#touched;
    shelved.changedAt = this.#now();
    shelved.shelf.place(shelved);
    if (!wasFinished && isTerminal(shelved.state)) this.#finish(shelved);
  }

  #finish(shelved: TaskRecord): void {
    this.#finished.push(shelved);
    this.#replayable += shelved.log?.retainedCount ?? 0;
    while (this.#replayable > this.#maxReplayable && this.#finished.length - this.#frozen > 1)
      this.#freeze(this.#finished[this.#frozen++]);
    this.#forgetWhile((oldest) => oldest.changedAt < this.#now() - this.#maxAge);
  }

  /** Keeps of a finished task what it amounts to; that is final anyway. */
  #freeze(shelved: TaskRecord | undefined): void {
    if (!shelved?.log) return;
    this.#replayable -= shelved.log.retainedCount;
    shelved.task = shelved.log.task();
    shelved.sequence = shelved.log.sequence;
    shelved.log = undefined;
  }

  #makeRoom(): void {
    if (this.#count > this.#maxTasks) this.#forgetWhile(() => this.#count > this.#maxTasks);
  }

  #forgetWhile(isTooMuch: (oldest: TaskRecord) => boolean): number {
    let forgotten = 0;
    while (this.#forgotten < this.#finished.length) {
      const oldest = this.#finished[this.#forgotten];
      if (oldest && !isTooMuch(oldest)) break;
      this.#finished[this.#forgotten++] = undefined;
      if (!oldest) continue;
      this.#replayable -= oldest.log?.retainedCount ?? 0;
      oldest.shelf.forget(oldest);
      this.#count--;
      forgotten++;
    }
    if (this.#forgotten > 1_000 && this.#forgotten * 2 > this.#finished.length) this.#compact();
    return forgotten;
  }

  #compact(): void {
    this.#finished.splice(0, this.#forgotten);
    this.#frozen = Math.max(0, this.#frozen - this.#forgotten);
    this.#forgotten = 0;
  }
}
