import { copyJson } from '../json.ts';

/** Returns a stream of copies of the items, so that a reader cannot change items that others read as well. */
export function copiedStream<T>(items: AsyncIterable<T>): AsyncIterableIterator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const stream: AsyncIterableIterator<T> = {
    [Symbol.asyncIterator]: () => stream,
    next: () => iterator.next().then(copyResult<T>),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return stream;
}

function copyResult<T>(result: IteratorResult<T>): IteratorResult<T> {
  return result.done ? result : { done: false, value: copyJson(result.value) };
}
