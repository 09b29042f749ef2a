import type { PushConfig } from '../protocol/push.ts';
import type { ListTasksRequest, TaskPage } from '../protocol/requests.ts';
import type { Task, TaskState } from '../protocol/task.ts';
import type { PushDeliveryState } from './task-store.ts';
import type { InMemoryTaskLog } from './in-memory-log.ts';
import { toListEntry, checkPageSize, readPageToken, parseStatusAfter, writePageToken } from './paging.ts';
import { type RecencyEntry, RecencyIndex } from './recency-index.ts';

/** A task in memory: with its log while it is young, and without when it is old. */
export interface TaskRecord extends RecencyEntry {
  readonly shelf: OwnerTasks;
  readonly id: string;
  readonly contextId: string;
  /** The tasks of its context, where there are several. */
  siblings: RecencyIndex<TaskRecord> | undefined;
  state: TaskState;
  /** When its status changed last, in milliseconds. */
  changedAt: number;
  log: InMemoryTaskLog | undefined;
  /** What it amounts to, once the log is gone. */
  task: Task | undefined;
  sequence: number;
  messageId: string | undefined;
  configs: PushConfigRecord[] | undefined;
}

/** A push configuration in memory. */
export interface PushConfigRecord {
  config: PushConfig;
  state: PushDeliveryState;
}

/** Gives the task that a shelved one stands for. */
export function materializeTask(shelved: TaskRecord): Task {
  return shelved.log ? shelved.log.task() : (shelved.task as Task);
}

/** All tasks of one owner, in the orders that lists ask for. */
export class OwnerTasks {
  readonly owner: string;
  readonly tasks = new Map<string, TaskRecord>();
  readonly byMessage = new Map<string, string>();
  #all = new RecencyIndex<TaskRecord>();
  #byState = new Map<TaskState, RecencyIndex<TaskRecord>>();
  /** Most contexts have one task, which then stands for itself. */
  #byContext = new Map<string, TaskRecord | RecencyIndex<TaskRecord>>();

  constructor(owner: string) {
    this.owner = owner;
  }

  /** Takes a new task in. */
  add(shelved: TaskRecord): void {
    const { contextId } = shelved;
    const there = this.#byContext.get(contextId);
    if (there instanceof RecencyIndex) shelved.siblings = there;
    else if (there === undefined) this.#byContext.set(contextId, shelved);
    else {
      const both = new RecencyIndex<TaskRecord>();
      both.add(there);
      there.siblings = both;
      shelved.siblings = both;
      this.#byContext.set(contextId, both);
    }
    this.place(shelved);
  }

  /** Gives a task its place among the others. */
  place(shelved: TaskRecord): void {
    this.#all.add(shelved);
    this.#ofState(shelved.state).add(shelved);
    shelved.siblings?.add(shelved);
  }

  /** Takes a task from its place. */
  displace(shelved: TaskRecord): void {
    this.#all.remove(shelved);
    this.#byState.get(shelved.state)?.remove(shelved);
    shelved.siblings?.remove(shelved);
  }

  /** Forgets a task. */
  forget(shelved: TaskRecord): void {
    this.displace(shelved);
    const there = this.#byContext.get(shelved.contextId);
    if (there === shelved || (there instanceof RecencyIndex && there.size === 0)) {
      this.#byContext.delete(shelved.contextId);
    }
    this.tasks.delete(shelved.id);
    if (shelved.messageId !== undefined && this.byMessage.get(shelved.messageId) === shelved.id) {
      this.byMessage.delete(shelved.messageId);
    }
  }

  #ofState(state: TaskState): RecencyIndex<TaskRecord> {
    let index = this.#byState.get(state);
    if (!index) this.#byState.set(state, (index = new RecencyIndex()));
    return index;
  }

  /** One page of tasks, newest status first. */
  list(request: ListTasksRequest): TaskPage {
    const pageSize = checkPageSize(request);
    const before = readPageToken(request.pageToken);
    const since = parseStatusAfter(request);
    const source = this.#sourceOf(request);
    const fits = (shelved: TaskRecord): boolean =>
      request.status === undefined || shelved.state === request.status;

    const tasks: Task[] = [];
    let last = 0;
    let more = false;
    for (const shelved of source.before(before)) {
      if (shelved.changedAt < since) break;
      if (!fits(shelved)) continue;
      if (tasks.length === pageSize) {
        more = true;
        break;
      }
      tasks.push(toListEntry(materializeTask(shelved), request));
      last = shelved.touched;
    }
    return {
      tasks,
      nextPageToken: more ? writePageToken(last) : '',
      pageSize,
      totalSize: this.#count(request, source, since),
    };
  }

  /** The smallest order that holds everything a request can want. */
  #sourceOf({ contextId, status }: ListTasksRequest): RecencyIndex<TaskRecord> {
    if (contextId !== undefined) {
      const there = this.#byContext.get(contextId);
      if (there instanceof RecencyIndex) return there;
      const alone = new RecencyIndex<TaskRecord>();
      if (there) alone.add(there);
      return alone;
    }
    return status === undefined ? this.#all : (this.#byState.get(status) ?? new RecencyIndex());
  }

  #count(request: ListTasksRequest, source: RecencyIndex<TaskRecord>, since: number): number {
    const byTwo = request.contextId !== undefined && request.status !== undefined;
    if (!byTwo && since === Number.NEGATIVE_INFINITY) return source.size;
    let count = 0;
    for (const shelved of source.before(Number.POSITIVE_INFINITY)) {
      if (shelved.changedAt < since) break;
      if (request.status === undefined || shelved.state === request.status) count++;
    }
    return count;
  }
}
