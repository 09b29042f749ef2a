import { copyJson } from '../primitives/json.ts';
import type { StreamEvent } from './event.ts';

/** Returns a stream of copies of the events, so that a reader cannot change events that others read as well. */
export function copiedStream(events: AsyncIterable<StreamEvent>): AsyncIterableIterator<StreamEvent> {
  const iterator = events[Symbol.asyncIterator]();
  const stream: AsyncIterableIterator<StreamEvent> = {
    [Symbol.asyncIterator]: () => stream,
    next: () => iterator.next().then(copyResult),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  };
  return stream;
}

function copyResult(result: IteratorResult<StreamEvent>): IteratorResult<StreamEvent> {
  return result.done ? result : { done: false, value: copyJson(result.value) };
}
