import { A2AError } from '../protocol/errors.ts';

/** A stream that fails at its first step. */
export function failed<T>(error: unknown): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(A2AError.from(error)) }),
  };
}

/** A stream of one thing. */
export async function* single<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** A stream that is still being opened. */
export async function* deferred<T>(opening: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await opening;
}
