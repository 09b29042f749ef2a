import { isPullStream } from '../../primitives/pull-stream.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';

/** What a reader needs to know of its task. */
export interface ReplayedEvents {
  /** True if no event follows until the next request. */
  isIdle(): boolean;
  /** Calls a function once, when the task changes. @returns a function that unsubscribes */
  onNextChange(listener: () => void): () => void;
  onClose(): void;
  /** Ends the stream. */
  readonly error: A2AError | undefined;
}

/** Events of a replayed task, which end where the recorded ones end. */
export class ReplayReader implements AsyncIterableIterator<StreamEvent> {
  readonly #events: AsyncIterator<StreamEvent>;
  readonly #task: ReplayedEvents;
  #stopWaiting: (() => void) | undefined = undefined;
  #isClosed = false;

  constructor(events: AsyncIterator<StreamEvent>, task: ReplayedEvents) {
    this.#events = events;
    this.#task = task;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    const events = this.#events;
    if (!isPullStream(events)) throw new A2AError('INTERNAL_ERROR', 'The task log has no pull stream');
    while (!this.#isClosed) {
      const value = events.pull();
      if (value) return { done: false, value };
      if (events.isOver) break;
      if (this.#task.isIdle()) {
        this.#close();
        if (this.#task.error) throw this.#task.error;
        break;
      }
      await new Promise<void>((resolve) => {
        const unsubscribe = this.#task.onNextChange(resolve);
        this.#stopWaiting = () => {
          unsubscribe();
          resolve();
        };
      });
    }
    this.#close();
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<StreamEvent>> {
    this.#close();
    return Promise.resolve({ done: true, value: undefined });
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWaiting?.();
    void this.#events.return?.();
    this.#task.onClose();
  }
}
