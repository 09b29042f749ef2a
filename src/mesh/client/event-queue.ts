import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

/** Somebody who follows a task: events wait here until they are read. */
export class EventQueue implements AsyncIterableIterator<StreamEvent> {
  readonly #limit: number;
  readonly #task: () => Task | undefined;
  readonly #left: (follower: EventQueue) => void;
  #events: StreamEvent[] = [];
  #end: { error?: unknown } | undefined;
  #waiting: ((step: IteratorResult<StreamEvent> | Promise<never>) => void) | undefined;

  /**
   * @param limit - how many events wait; when there are more, the task as it stands comes in their place.
   * @param left - called when nobody reads any more.
   */
  constructor(limit: number, task: () => Task | undefined, left: (follower: EventQueue) => void) {
    this.#limit = limit;
    this.#task = task;
    this.#left = left;
  }

  push(event: StreamEvent): void {
    if (this.#end) return;
    if (this.#waiting) {
      this.#wake({ done: false, value: event });
      return;
    }
    this.#events.push(event);
    const task = this.#events.length > this.#limit ? this.#task() : undefined;
    if (task) this.#events = [{ kind: 'task', task }];
  }

  /** Nothing follows. */
  end(error?: unknown): void {
    this.#end ??= { error };
    if (!this.#waiting) return;
    this.#wake(this.#last());
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const value = this.#events.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#end) return Promise.resolve(this.#last());
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    this.#events = [];
    this.end();
    this.#left(this);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wake(step: IteratorResult<StreamEvent> | Promise<never>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(step);
  }

  /** An error is told once, at the end. */
  #last(): IteratorResult<StreamEvent> | Promise<never> {
    const error = this.#end?.error;
    this.#end = {};
    this.#left(this);
    return error === undefined ? { done: true, value: undefined } : Promise.reject(error);
  }
}
