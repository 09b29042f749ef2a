import { A2AError } from '../../protocol/errors.ts';
import { failingStream } from '../../protocol/composition/failing-stream.ts';

/** The stream of an agent without streaming support. */
export function unsupportedStream<T>(): AsyncIterable<T> {
  return failingStream(new A2AError('UNSUPPORTED_OPERATION', 'This agent does not support streaming'));
}

export async function* singleEventStream<T>(value: T): AsyncGenerator<T> {
  yield value;
}
