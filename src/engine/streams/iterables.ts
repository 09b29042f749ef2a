import { A2AError } from '../../protocol/errors.ts';

/** A stream whose first read rejects. */
export function failingStream<T>(error: unknown): AsyncIterable<T> {
  const next = async (): Promise<IteratorResult<T>> => {
    throw A2AError.from(error);
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The stream of an agent without streaming support. */
export function unsupportedStream<T>(): AsyncIterable<T> {
  return failingStream(new A2AError('UNSUPPORTED_OPERATION', 'This agent does not support streaming'));
}

export async function* singleEventStream<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** A stream that is still being opened. A failure is reported on the first read only. */
export function deferredStream<T>(opening: Promise<AsyncIterable<T>>): AsyncIterable<T> {
  opening.catch(() => {});
  return opened(opening);
}

async function* opened<T>(opening: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await opening;
}
