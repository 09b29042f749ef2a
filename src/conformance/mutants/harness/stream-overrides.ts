import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import { isTerminal } from '../../../protocol/task.ts';

/** Replaces each event of a stream with the events that `map` returns; `stop` ends the stream. */
export async function* mapEvents(
  events: AsyncIterable<StreamEvent>,
  map: (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop',
): AsyncGenerator<StreamEvent, void, undefined> {
  let index = 0;
  for await (const event of events) {
    const replacements = map(event, index++);
    if (replacements === 'stop') return;
    yield* replacements;
  }
}

/** Returns true for a status event with a terminal state. */
export const endsTask = (event: StreamEvent): boolean =>
  event.kind === 'status' && isTerminal(event.status.state);

/** A stream that fails with UNSUPPORTED_OPERATION. */
export async function* rejectedStream(): AsyncGenerator<StreamEvent, void, undefined> {
  yield* [];
  throw new A2AError('UNSUPPORTED_OPERATION');
}

/** Cancels the task if the subscriber disconnects before its terminal event. */
export async function* cancelOnAbort(
  agent: Agent,
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent, void, undefined> {
  let id: string | undefined;
  let hasEnded = false;
  try {
    for await (const event of events) {
      if (event.kind === 'task') id = event.task.id;
      hasEnded ||= endsTask(event);
      yield event;
    }
  } finally {
    if (!hasEnded && id !== undefined) await agent.cancelTask({ id }).catch(() => {});
  }
}
