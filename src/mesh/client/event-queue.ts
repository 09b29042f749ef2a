import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

/** Buffer of task events for one subscriber. */
export class EventQueue implements AsyncIterableIterator<StreamEvent> {
  readonly #limit: number;
  readonly #task: () => Task | undefined;
  readonly #onClose: (queue: EventQueue) => void;
  #events: StreamEvent[] = [];
  #end: { error?: unknown } | undefined;
  #waiting: ((step: IteratorResult<StreamEvent> | Promise<never>) => void) | undefined;

  /**
   * @param limit - maximum number of buffered events; beyond it, they are replaced by a snapshot of the task.
   * @param onClose - called when the subscriber has left or the queue has ended.
   */
  constructor(limit: number, task: () => Task | undefined, onClose: (queue: EventQueue) => void) {
    this.#limit = limit;
    this.#task = task;
    this.#onClose = onClose;
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

  /** Ends the queue after the buffered events. */
  end(error?: unknown): void {
    this.#end ??= { error };
    if (!this.#waiting) return;
    this.#wake(this.#finish());
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    const value = this.#events.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#end) return Promise.resolve(this.#finish());
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    this.#events = [];
    this.end();
    this.#onClose(this);
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

  /** Reports an error once, at the end. */
  #finish(): IteratorResult<StreamEvent> | Promise<never> {
    const error = this.#end?.error;
    this.#end = {};
    this.#onClose(this);
    return error === undefined ? { done: true, value: undefined } : Promise.reject(error);
  }
}
