import { abortError } from '../abortable-sleep.ts';

type Batches<T> = AsyncGenerator<readonly T[]>;

/**
 * Makes an iterable, out of events that come in batches, that can be left at any time, even while it waits: leaving ends what it waits for.
 *
 * A plain async generator cannot be left before its next event comes.
 *
 * @param outer - the caller's signal, and where everything that is open is kept, to be ended together.
 * @param start - begins the work with the first `next`; its signal ends with either, or when the caller leaves.
 */
export function abortableStream<T>(
  outer: { signal: AbortSignal | undefined; open: Set<(reason: unknown) => void> },
  start: (signal: AbortSignal) => Promise<Batches<T>>,
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new Leavable(outer, start) };
}

/** Tells whether a stream can be left while it waits, and so needs no signal to be ended by. */
export function isAbortableStream(iterator: AsyncIterator<unknown>): boolean {
  return iterator instanceof Leavable;
}

const over = { done: true, value: undefined } as const;

class Leavable<T> implements AsyncIterator<T> {
  readonly #outer: AbortSignal | undefined;
  readonly #open: Set<(reason: unknown) => void>;
  readonly #start: (signal: AbortSignal) => Promise<Batches<T>>;
  readonly #stop = new AbortController();
  #source: Batches<T> | undefined;
  /** What came last, and how much of it was handed out. */
  #batch: readonly T[] = [];
  #at = 0;
  #left = false;

  constructor(
    { signal, open }: { signal: AbortSignal | undefined; open: Set<(reason: unknown) => void> },
    start: (signal: AbortSignal) => Promise<Batches<T>>,
  ) {
    this.#outer = signal;
    this.#open = open;
    this.#start = start;
  }

  next(): Promise<IteratorResult<T>> {
    const at = this.#at;
    if (at < this.#batch.length && !this.#left) {
      this.#at = at + 1;
      return Promise.resolve({ done: false, value: this.#batch[at] as T });
    }
    return this.#refill();
  }

  async #refill(): Promise<IteratorResult<T>> {
    if (this.#left) return over;
    try {
      this.#source ??= await this.#begin();
      for (;;) {
        const next = await this.#source.next();
        if (next.done) break;
        if (next.value.length === 0) continue;
        this.#batch = next.value;
        this.#at = 1;
        return { done: false, value: next.value[0] as T };
      }
      this.#end();
      return over;
    } catch (thrown) {
      const left = this.#left;
      this.#end();
      if (left) return over;
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<T>> {
    const source = this.#source;
    this.#end();
    this.#stop.abort(new Error('The reader left'));
    // What is being waited for has just been ended, so this comes soon; its error was meant for nobody.
    await source?.return(undefined).catch(() => undefined);
    return over;
  }

  #begin(): Promise<Batches<T>> {
    if (this.#outer?.aborted) throw abortError(this.#outer);
    this.#outer?.addEventListener('abort', this.#abort);
    this.#open.add(this.#close);
    return this.#start(this.#stop.signal);
  }

  #end(): void {
    this.#left = true;
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#open.delete(this.#close);
  }

  #close = (reason: unknown): void => {
    this.#stop.abort(reason);
  };

  #abort = (): void => {
    this.#stop.abort(this.#outer?.reason);
  };
}
