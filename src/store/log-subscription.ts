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
 * One reader of one log. It holds a place in the log and nothing else, so a slow reader costs no memory and a reader
 * that leaves is gone.
 */
export class LogSubscription implements PullStream<StreamEvent> {
  nextWaiting: LogSubscription | undefined = undefined;
  previousWaiting: LogSubscription | undefined = undefined;
  isWaiting = false;
  #log: InMemoryTaskLog;
  #seen: number;
  #isLast: ((event: StreamEvent) => boolean) | undefined;
  #isOver = false;
  #resolve: ((result: IteratorResult<StreamEvent>) => void) | undefined = undefined;
  #reject: ((fault: Error) => void) | undefined = undefined;
  #waiter: Waiter | undefined = undefined;
  /** The task as it stands, on its way to a reader that wants it first. */
  #snapshot: StreamEvent | undefined = undefined;
  /** Stored changes on their way to this reader, which are no longer in the log's memory. */
  #stored: { changes: readonly TaskChange[]; next: number } | undefined = undefined;

  constructor(log: InMemoryTaskLog, after: number | 'now', isLast?: (event: StreamEvent) => boolean) {
    this.#log = log;
    this.#seen = after === 'now' ? log.visible : after;
    this.#isLast = isLast;
    // A task that is not stored yet stands nowhere: its first event will say it.
    if (after === 'now' && log.visible > 0) this.#snapshot = this.#takeSnapshot();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const event = this.#advance();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#isOver) return Promise.resolve(done);
    if (!this.#log.has(this.#seen)) return this.#catchUp();
    const { fault } = this.#log;
    if (fault) {
      this.#isOver = true;
      return Promise.reject(fault);
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
    if (this.#isOver || this.#log.fault || !this.#log.has(this.#seen)) return false;
    this.#waiter = waiter;
    this.#log.wait(this);
    return true;
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#finish();
    return Promise.resolve(done);
  }

  /** There is more in the log, or there will never be. */
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
    const { fault } = this.#log;
    if (!event && !this.#isOver && !fault) {
      this.#log.wait(this);
      return;
    }
    this.#resolve = undefined;
    this.#reject = undefined;
    if (event) resolve({ done: false, value: event });
    else if (this.#isOver) resolve(done);
    else if (fault) {
      this.#isOver = true;
      reject?.(fault);
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.#stored = undefined;
    this.#waiter = undefined;
    this.#log.leave(this);
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    resolve?.(done);
  }

  /** The next event that a reader may see, or undefined if there is none now. */
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
        if (this.#log.isFinished && this.#log.has(this.#seen)) this.#isOver = true;
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
      if (change?.sequence !== undefined) this.#seen = change.sequence;
      return change;
    }
    const change = this.#log.at(this.#seen + 1);
    if (change) this.#seen++;
    return change;
  }

  /** Reads what the log has no longer in memory; if it is gone, the task as it stands says all of it. */
  async #catchUp(): Promise<IteratorResult<StreamEvent>> {
    const changes = await this.#log.replay(this.#seen);
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
    this.#seen = this.#log.visible;
    return { kind: 'task', task: this.#log.task(), sequence: this.#seen };
  }
}
