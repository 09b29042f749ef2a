import type { StreamEvent } from '../protocol/event.ts';
import type { PullStream, Waiter } from '../primitives/pull-stream.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import { isTerminal } from '../protocol/task.ts';
import type { InMemoryTaskLog } from './in-memory-log.ts';

const done: IteratorResult<StreamEvent> = { done: true, value: undefined };

function endsTask(event: StreamEvent): boolean {
  if (event.kind === 'status') return isTerminal(event.status.state);
  return event.kind === 'task' && isTerminal(event.task.status.state);
}

/**
 * A subscription to one task log. It stores only a cursor: a slow subscriber uses no extra memory, and closing it frees
 * everything.
 */
export class LogSubscription implements PullStream<StreamEvent> {
  nextWaiting: LogSubscription | undefined = undefined;
  previousWaiting: LogSubscription | undefined = undefined;
  isWaiting = false;
  #log: InMemoryTaskLog;
  #cursor: number;
  #isLast: ((event: StreamEvent) => boolean) | undefined;
  #isOver = false;
  #resolve: ((result: IteratorResult<StreamEvent>) => void) | undefined = undefined;
  #reject: ((error: Error) => void) | undefined = undefined;
  #waiter: Waiter | undefined = undefined;
  /** Snapshot to return before any change. */
  #snapshot: StreamEvent | undefined = undefined;
  /** Changes that were read from storage because the log had evicted them from memory. */
  #stored: { changes: readonly TaskChange[]; next: number } | undefined = undefined;

  constructor(log: InMemoryTaskLog, after: number | 'now', isLast?: (event: StreamEvent) => boolean) {
    this.#log = log;
    this.#cursor = after === 'now' ? log.visible : after;
    this.#isLast = isLast;
    // A task that is not persisted yet has no visible state; its first event is the snapshot.
    if (after === 'now' && log.visible > 0) this.#snapshot = this.#takeSnapshot();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const event = this.#advance();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#isOver) return Promise.resolve(done);
    if (!this.#log.has(this.#cursor)) return this.#catchUp();
    const { error } = this.#log;
    if (error) {
      this.#isOver = true;
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#log.wait(this);
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  pull(): StreamEvent | undefined {
    return this.#advance();
  }

  park(waiter: Waiter): boolean {
    if (this.#isOver || this.#log.error || !this.#log.has(this.#cursor)) return false;
    this.#waiter = waiter;
    this.#log.wait(this);
    return true;
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#finish();
    return Promise.resolve(done);
  }

  /** Called by the log when there are new events, or when there will be no more. */
  wake(): void {
    const waiter = this.#waiter;
    if (waiter) {
      this.#waiter = undefined;
      waiter.wake();
      return;
    }
    const resolve = this.#resolve;
    const reject = this.#reject;
    if (!resolve) return;
    const event = this.#advance();
    const { error } = this.#log;
    if (!event && !this.#isOver && !error) {
      this.#log.wait(this);
      return;
    }
    this.#resolve = undefined;
    this.#reject = undefined;
    if (event) resolve({ done: false, value: event });
    else if (this.#isOver) resolve(done);
    else if (error) {
      this.#isOver = true;
      reject?.(error);
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.#stored = undefined;
    this.#waiter = undefined;
    this.#log.stopWaiting(this);
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    resolve?.(done);
  }

  /** Returns the next visible event, or undefined if there is none yet. */
  #advance(): StreamEvent | undefined {
    if (this.#snapshot && !this.#isOver) {
      const event = this.#snapshot;
      this.#snapshot = undefined;
      if (endsTask(event)) this.#isOver = true;
      return event;
    }
    while (!this.#isOver) {
      const change = this.#take();
      if (!change) {
        if (this.#log.isFinished && this.#log.has(this.#cursor)) this.#isOver = true;
        return undefined;
      }
      if (change.kind === 'input') continue;
      if (endsTask(change) || this.#isLast?.(change)) this.#isOver = true;
      return change;
    }
    return undefined;
  }

  #take(): TaskChange | undefined {
    if (this.#stored) {
      const change = this.#stored.changes[this.#stored.next++];
      if (this.#stored.next >= this.#stored.changes.length) this.#stored = undefined;
      if (change?.sequence !== undefined) this.#cursor = change.sequence;
      return change;
    }
    const change = this.#log.at(this.#cursor + 1);
    if (change) this.#cursor++;
    return change;
  }

  /** Reads evicted changes from storage. If they are no longer stored, returns a snapshot of the task. */
  async #catchUp(): Promise<IteratorResult<StreamEvent>> {
    const changes = await this.#log.replay(this.#cursor);
    if (this.#isOver) return done;
    if (changes && changes.length > 0) {
      this.#stored = { changes, next: 0 };
      return this.next();
    }
    const event = this.#takeSnapshot();
    if (endsTask(event) || this.#isLast?.(event)) this.#isOver = true;
    return { done: false, value: event };
  }

  #takeSnapshot(): StreamEvent {
    this.#cursor = this.#log.visible;
    return { kind: 'task', task: this.#log.task(), sequence: this.#cursor };
  }
}
