import type { PushConfig } from '../protocol/push.ts';
import type { ListTasksRequest, TaskPage } from '../protocol/requests.ts';
import { isTerminal, type Task, type TaskState, taskStates } from '../protocol/task.ts';
import type { PushDelivery, PushDeliveryState } from './task-store.ts';
import type { InMemoryTaskLog } from './in-memory-log.ts';
import type { PageTokens } from './page-tokens.ts';
import { toListEntry, checkPageSize, parseStatusAfter } from './paging.ts';
import { type RecencyEntry, RecencyIndex } from './recency-index.ts';

const terminalStates = taskStates.filter(isTerminal);

/** A task in memory. `log` is undefined after the task was archived. */
export interface TaskRecord extends RecencyEntry {
  readonly ownerTasks: OwnerTasks;
  readonly id: string;
  readonly contextId: string;
  /** The tasks of its context, if there are several. */
  siblings: RecencyIndex<TaskRecord> | undefined;
  state: TaskState;
  /** Time of the last status change, in milliseconds since 1970. */
  changedAt: number;
  log: InMemoryTaskLog | undefined;
  /** Final state of an archived task. */
  task: Task | undefined;
  sequence: number;
  /** Approximate memory use, in bytes. */
  bytes: number;
  /** True after it was evicted or has expired. */
  isDeleted: boolean;
  messageId: string | undefined;
  configs: PushConfigRecord[] | undefined;
  /** True if the task has finished and keeps its events only for webhooks. */
  isHeld: boolean;
}

/** A push configuration in memory. */
export interface PushConfigRecord {
  config: PushConfig;
  state: PushDeliveryState;
}

/** Returns the number of events that at least one webhook has not received. */
export function countUndelivered({ configs, log }: TaskRecord): number {
  if (!configs || !log) return 0;
  let count = 0;
  for (const { state } of configs) count = Math.max(count, log.sequence - state.delivered);
  return count;
}

/** Returns the task of a record. */
export function materializeTask(record: TaskRecord): Task {
  return record.log ? record.log.task() : (record.task as Task);
}

/** The tasks of one owner, indexed by id, message, context, state and recency. */
export class OwnerTasks {
  readonly owner: string;
  readonly tasks = new Map<string, TaskRecord>();
  readonly byMessage = new Map<string, string>();
  /** Approximate memory use of all tasks, in bytes. */
  bytes = 0;
  #all = new RecencyIndex<TaskRecord>();
  #byState = new Map<TaskState, RecencyIndex<TaskRecord>>();
  /** Most contexts have one task, which is then stored without an index. */
  #byContext = new Map<string, TaskRecord | RecencyIndex<TaskRecord>>();

  constructor(owner: string) {
    this.owner = owner;
  }

  add(record: TaskRecord): void {
    const { contextId } = record;
    const existing = this.#byContext.get(contextId);
    if (existing instanceof RecencyIndex) record.siblings = existing;
    else if (existing === undefined) this.#byContext.set(contextId, record);
    else {
      const both = new RecencyIndex<TaskRecord>();
      both.add(existing);
      existing.siblings = both;
      record.siblings = both;
      this.#byContext.set(contextId, both);
    }
    this.addToIndexes(record);
  }

  addToIndexes(record: TaskRecord): void {
    this.#all.add(record);
    this.#stateIndex(record.state).add(record);
    record.siblings?.add(record);
  }

  removeFromIndexes(record: TaskRecord): void {
    this.#all.remove(record);
    this.#byState.get(record.state)?.remove(record);
    record.siblings?.remove(record);
  }

  delete(record: TaskRecord): void {
    this.removeFromIndexes(record);
    const existing = this.#byContext.get(record.contextId);
    if (existing === record || (existing instanceof RecencyIndex && existing.size === 0)) {
      this.#byContext.delete(record.contextId);
    }
    this.tasks.delete(record.id);
    if (record.messageId !== undefined && this.byMessage.get(record.messageId) === record.id) {
      this.byMessage.delete(record.messageId);
    }
  }

  /** Returns the task that finished first. */
  oldestFinished(): TaskRecord | undefined {
    let oldest: TaskRecord | undefined;
    for (const state of terminalStates) {
      const record = this.#byState.get(state)?.oldest();
      if (record && (!oldest || record.touched < oldest.touched)) oldest = record;
    }
    return oldest;
  }

  #stateIndex(state: TaskState): RecencyIndex<TaskRecord> {
    let index = this.#byState.get(state);
    if (!index) this.#byState.set(state, (index = new RecencyIndex()));
    return index;
  }

  /** Returns the push configurations with a running task or outstanding deliveries. */
  listDeliveries(): PushDelivery[] {
    const deliveries: PushDelivery[] = [];
    for (const { configs, log, state, sequence: last } of this.tasks.values()) {
      const sequence = log?.sequence ?? last;
      for (const each of configs ?? []) {
        if (isTerminal(state) && each.state.delivered >= sequence) continue;
        deliveries.push({ owner: this.owner, ...each, sequence });
      }
    }
    return deliveries;
  }

  /** Returns one page of tasks, newest status first. */
  list(request: ListTasksRequest, pageTokens: PageTokens): TaskPage {
    const pageSize = checkPageSize(request);
    const before = pageTokens.read(this.owner, request.pageToken);
    const since = parseStatusAfter(request);
    const index = this.#smallestIndex(request);
    const matches = (record: TaskRecord): boolean =>
      request.status === undefined || record.state === request.status;

    const tasks: Task[] = [];
    let last = 0;
    let more = false;
    for (const record of index.before(before)) {
      if (record.changedAt < since) break;
      if (!matches(record)) continue;
      if (tasks.length === pageSize) {
        more = true;
        break;
      }
      tasks.push(toListEntry(materializeTask(record), request));
      last = record.touched;
    }
    return {
      tasks,
      nextPageToken: more ? pageTokens.write(this.owner, last) : '',
      pageSize,
      totalSize: this.#count(request, index, since),
    };
  }

  /** Returns the smallest index that contains all tasks that match a request. */
  #smallestIndex({ contextId, status }: ListTasksRequest): RecencyIndex<TaskRecord> {
    if (contextId !== undefined) {
      const existing = this.#byContext.get(contextId);
      if (existing instanceof RecencyIndex) return existing;
      const alone = new RecencyIndex<TaskRecord>();
      if (existing) alone.add(existing);
      return alone;
    }
    return status === undefined ? this.#all : (this.#byState.get(status) ?? new RecencyIndex());
  }

  #count(request: ListTasksRequest, index: RecencyIndex<TaskRecord>, since: number): number {
    const byTwo = request.contextId !== undefined && request.status !== undefined;
    if (!byTwo && since === Number.NEGATIVE_INFINITY) return index.size;
    let count = 0;
    for (const record of index.before(Number.POSITIVE_INFINITY)) {
      if (record.changedAt < since) break;
      if (request.status === undefined || record.state === request.status) count++;
    }
    return count;
  }
}
