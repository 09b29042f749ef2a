import { A2AError } from '../errors.ts';

/** Returns a stream whose first read rejects. */
export function failingStream<T>(error: unknown): AsyncIterable<T> {
  const next = async (): Promise<IteratorResult<T>> => {
    throw A2AError.from(error);
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
