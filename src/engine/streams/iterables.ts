import { A2AError } from '../../protocol/errors.ts';

/** A stream that fails at its first step. */
export function failingStream<T>(error: unknown): AsyncIterable<T> {
  const next = async (): Promise<IteratorResult<T>> => {
    throw A2AError.from(error);
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The stream of an agent that has none. */
export function unsupportedStream<T>(): AsyncIterable<T> {
  return failingStream(new A2AError('UNSUPPORTED_OPERATION', 'This agent does not stream'));
}

/** A stream of one thing. */
export async function* singleEventStream<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** A stream that is still being opened. Whoever never reads it never hears of a failure. */
export function deferredStream<T>(opening: Promise<AsyncIterable<T>>): AsyncIterable<T> {
  opening.catch(() => {});
  return opened(opening);
}

async function* opened<T>(opening: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await opening;
}
