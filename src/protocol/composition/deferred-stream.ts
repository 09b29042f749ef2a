/**
 * Returns a stream that is still being opened. A failure is reported on the first read only. Closing it does not wait for
 * the opening: a stream that opens later is closed then.
 */
export function deferredStream<T>(opening: PromiseLike<AsyncIterable<T>>): AsyncIterableIterator<T> {
  return new DeferredStream(opening);
}

class DeferredStream<T> implements AsyncIterableIterator<T> {
  readonly #opening: Promise<AsyncIterator<T>>;

  constructor(opening: PromiseLike<AsyncIterable<T>>) {
    this.#opening = Promise.resolve(opening).then((events) => events[Symbol.asyncIterator]());
    this.#opening.catch(() => {});
  }

  async next(): Promise<IteratorResult<T>> {
    const events = await this.#opening;
    return events.next();
  }

  async return(): Promise<IteratorResult<T>> {
    this.#opening.then((events) => events.return?.()).catch(() => {});
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this;
  }
}
