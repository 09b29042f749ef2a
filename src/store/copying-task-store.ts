import { copyJson } from '../primitives/json.ts';
import { mapResolved } from '../primitives/maybe-promise.ts';
import { publishCopying } from '../primitives/copies/shared-view.ts';
import { copiedStream } from '../primitives/copies/copied-stream.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { Task, TaskState } from '../protocol/task.ts';
import type { TaskLog, TaskStore } from './task-store.ts';

/**
 * Returns a task store that copies everything it accepts and returns, so that a caller can modify its objects without
 * changing a stored task. `sharedViewOf` returns the store itself, for components that do not modify them.
 */
export function copyingTaskStore(taskStore: TaskStore): TaskStore {
  return publishCopying(new CopyingTaskStore(taskStore), taskStore);
}

class CopyingTaskStore implements TaskStore {
  readonly #store: TaskStore;

  constructor(taskStore: TaskStore) {
    this.#store = taskStore;
  }

  get isShared(): boolean | undefined {
    return this.#store.isShared;
  }

  get rejectsKnownMessages(): boolean | undefined {
    return this.#store.rejectsKnownMessages;
  }

  outage: TaskStore['outage'] = () => this.#store.outage?.();

  reserveFor: TaskStore['reserveFor'] = (name) => this.#store.reserveFor?.(name);

  create: TaskStore['create'] = (owner, task, key) =>
    mapResolved(this.#store.create(owner, copyJson(task), key), copyingLog);

  open: TaskStore['open'] = (owner, id) =>
    mapResolved(this.#store.open(owner, id), (log) => log && copyingLog(log));

  findByKey: TaskStore['findByKey'] = (owner, id) => this.#store.findByKey(owner, id);

  list: TaskStore['list'] = (owner, request) => mapResolved(this.#store.list(owner, request), copyJson);

  listUnfinished: TaskStore['listUnfinished'] = () => this.#store.listUnfinished();

  handOver: TaskStore['handOver'] = (tasks) => this.#store.handOver?.(tasks);

  takeOver: TaskStore['takeOver'] = () => this.#store.takeOver?.() ?? [];

  get onHandOver(): TaskStore['onHandOver'] {
    return this.#store.onHandOver;
  }

  set onHandOver(notify: TaskStore['onHandOver']) {
    this.#store.onHandOver = notify;
  }

  command: TaskStore['command'] = async (log, command, isDone) =>
    this.#store.command?.(originalLog(log), copyJson(command), (event) => isDone(copyJson(event)));

  get onCommand(): TaskStore['onCommand'] {
    return this.#store.onCommand;
  }

  set onCommand(notify: TaskStore['onCommand']) {
    this.#store.onCommand = notify && ((log, command) => notify(copyingLog(log), command));
  }

  get onEvicted(): TaskStore['onEvicted'] {
    return this.#store.onEvicted;
  }

  set onEvicted(notify: TaskStore['onEvicted']) {
    this.#store.onEvicted = notify;
  }

  expire: TaskStore['expire'] = (before) => this.#store.expire(before);

  putPushConfig: TaskStore['putPushConfig'] = (owner, config, delivered) =>
    mapResolved(this.#store.putPushConfig(owner, copyJson(config), delivered), copyJson);

  listPushConfigs: TaskStore['listPushConfigs'] = (owner, taskId) =>
    mapResolved(this.#store.listPushConfigs(owner, taskId), copyJson);

  deletePushConfig: TaskStore['deletePushConfig'] = (owner, taskId, id) =>
    this.#store.deletePushConfig(owner, taskId, id);

  putDelivery: TaskStore['putDelivery'] = (owner, taskId, id, state) =>
    this.#store.putDelivery(owner, taskId, id, { ...state });

  listDeliveries: TaskStore['listDeliveries'] = () => mapResolved(this.#store.listDeliveries(), copyJson);

  get takeOverDeliveries(): TaskStore['takeOverDeliveries'] {
    const takeOver = this.#store.takeOverDeliveries?.bind(this.#store);
    return takeOver && (() => mapResolved(takeOver(), copyJson));
  }

  get findHeldPushConfig(): TaskStore['findHeldPushConfig'] {
    const find = this.#store.findHeldPushConfig?.bind(this.#store);
    return find && ((owner, taskId, id) => mapResolved(find(owner, taskId, id), copyJson));
  }

  get releaseDeliveries(): TaskStore['releaseDeliveries'] {
    return this.#store.releaseDeliveries?.bind(this.#store);
  }

  get replica(): TaskStore['replica'] {
    return this.#store.replica;
  }

  get usage(): TaskStore['usage'] {
    return this.#store.usage;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#store[Symbol.asyncDispose]();
  }
}

/** One wrapper per log, so that opening a task twice returns the same log. */
const wrappers = new WeakMap<TaskLog, TaskLog>();

function copyingLog(log: TaskLog): TaskLog {
  let wrapper = wrappers.get(log);
  if (!wrapper) wrappers.set(log, (wrapper = new CopyingTaskLog(log)));
  return wrapper;
}

function originalLog(log: TaskLog): TaskLog {
  return log instanceof CopyingTaskLog ? log.original : log;
}

class CopyingTaskLog implements TaskLog {
  readonly #log: TaskLog;
  readonly owner: string;
  readonly id: string;
  readonly contextId: string;

  constructor(log: TaskLog) {
    this.#log = log;
    this.owner = log.owner;
    this.id = log.id;
    this.contextId = log.contextId;
  }

  get original(): TaskLog {
    return this.#log;
  }

  claim: TaskLog['claim'] = () => this.#log.claim?.() ?? true;

  release: TaskLog['release'] = () => this.#log.release?.();

  refresh: TaskLog['refresh'] = () => this.#log.refresh?.();

  get sequence(): number {
    return this.#log.sequence;
  }

  get state(): TaskState {
    return this.#log.state;
  }

  set onAbandoned(notify: TaskLog['onAbandoned']) {
    this.#log.onAbandoned = notify && ((_log, error) => notify(this, error));
  }

  append(change: TaskChange, expected?: number): number {
    return this.#log.append(copyJson(change), expected);
  }

  whenPersisted(): PromiseLike<void> | undefined {
    return this.#log.whenPersisted();
  }

  task(): Task {
    return copyJson(this.#log.task());
  }

  subscribe(
    after: number | 'now',
    isLast?: (event: StreamEvent) => boolean,
  ): AsyncIterableIterator<StreamEvent> {
    return copiedStream(this.#log.subscribe(after, isLast && ((event) => isLast(copyJson(event)))));
  }
}
