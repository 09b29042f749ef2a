import { canceledError } from '../../protocol/errors.ts';

type Batches<T> = AsyncGenerator<readonly T[]>;

/**
 * Creates an iterable from batches of events that can be aborted while it waits. A plain async generator cannot be
 * returned from before its next event arrives.
 *
 * @param outer - signal of the caller, and the set of open streams, which are closed together.
 * @param start - starts the work at the first `next`; its signal aborts when the caller aborts or leaves the loop.
 */
export function abortableStream<T>(
  outer: { signal: AbortSignal | undefined; open: Set<(reason: unknown) => void> },
  start: (signal: AbortSignal) => Promise<Batches<T>>,
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new AbortableIterator(outer, start) };
}

/** Returns true if `return()` of an iterator ends a pending `next()`, so that no signal is needed. */
export function isAbortableStream(iterator: AsyncIterator<unknown>): boolean {
  return iterator instanceof AbortableIterator;
}

const doneResult = { done: true, value: undefined } as const;

class AbortableIterator<T> implements AsyncIterator<T> {
  readonly #outer: AbortSignal | undefined;
  readonly #open: Set<(reason: unknown) => void>;
  readonly #start: (signal: AbortSignal) => Promise<Batches<T>>;
  readonly #controller = new AbortController();
  #source: Batches<T> | undefined;
  #batch: readonly T[] = [];
  /** Index of the next event in the batch. */
  #next = 0;
  #isDone = false;

  constructor(
    { signal, open }: { signal: AbortSignal | undefined; open: Set<(reason: unknown) => void> },
    start: (signal: AbortSignal) => Promise<Batches<T>>,
  ) {
    this.#outer = signal;
    this.#open = open;
    this.#start = start;
  }

  next(): Promise<IteratorResult<T>> {
    const index = this.#next;
    if (index < this.#batch.length && !this.#isDone) {
      this.#next = index + 1;
      return Promise.resolve({ done: false, value: this.#batch[index] as T });
    }
    return this.#refill();
  }

  async #refill(): Promise<IteratorResult<T>> {
    if (this.#isDone) return doneResult;
    try {
      this.#source ??= await this.#begin();
      for (;;) {
        const next = await this.#source.next();
        if (next.done) break;
        if (next.value.length === 0) continue;
        this.#batch = next.value;
        this.#next = 1;
        return { done: false, value: next.value[0] as T };
      }
      this.#end();
      return doneResult;
    } catch (thrown) {
      const wasDone = this.#isDone;
      this.#end();
      if (wasDone) return doneResult;
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<T>> {
    const source = this.#source;
    this.#end();
    this.#controller.abort(new Error('The stream was closed by its consumer'));
    // The abort ends a pending read soon; its error has no receiver.
    await source?.return(undefined).catch(() => undefined);
    return doneResult;
  }

  #begin(): Promise<Batches<T>> {
    if (this.#outer?.aborted) throw canceledError(this.#outer);
    this.#outer?.addEventListener('abort', this.#abort);
    this.#open.add(this.#close);
    return this.#start(this.#controller.signal);
  }

  #end(): void {
    this.#isDone = true;
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#open.delete(this.#close);
  }

  #close = (reason: unknown): void => {
    this.#controller.abort(reason);
  };

  #abort = (): void => {
    this.#controller.abort(this.#outer?.reason);
  };
}
