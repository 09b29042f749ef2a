import { canceled } from './clock.ts';

/**
 * Makes an iterable that can be left at any time, even while it waits: leaving ends what it waits for.
 *
 * A plain async generator cannot be left before its next event comes.
 *
 * @param start - begins the work with the first `next`; its signal ends with the caller's, or when the caller leaves.
 */
export function closable<T>(
  outer: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<AsyncGenerator<T>>,
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new Leavable(outer, start) };
}

const over = { done: true, value: undefined } as const;

class Leavable<T> implements AsyncIterator<T> {
  readonly #outer: AbortSignal | undefined;
  readonly #start: (signal: AbortSignal) => Promise<AsyncGenerator<T>>;
  readonly #stop = new AbortController();
  #source: AsyncGenerator<T> | undefined;
  #left = false;

  constructor(outer: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<AsyncGenerator<T>>) {
    this.#outer = outer;
    this.#start = start;
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#left) return over;
    try {
      this.#source ??= await this.#begin();
      const next = await this.#source.next();
      if (next.done) this.#end();
      return next;
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

  #begin(): Promise<AsyncGenerator<T>> {
    if (this.#outer?.aborted) throw canceled(this.#outer);
    this.#outer?.addEventListener('abort', this.#abort);
    return this.#start(this.#stop.signal);
  }

  #end(): void {
    this.#left = true;
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  #abort = (): void => {
    this.#stop.abort(this.#outer?.reason);
  };
}
