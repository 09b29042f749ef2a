import type { Agent } from '../../../protocol/agent.ts';
import { A2AError, type ErrorReason } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import { isTerminal } from '../../../protocol/task.ts';

/** An agent with some operations done otherwise. */
export function overrideAgent(agent: Agent, others: Partial<Agent>): Agent {
  return new Proxy(agent, {
    get(target, name) {
      const other = others[name as keyof Agent];
      if (other !== undefined) return other;
      const own: unknown = Reflect.get(target, name);
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });
}

/** Gives another error than the one that was thrown. */
export function replaceError<T>(work: Promise<T>, from: ErrorReason, to: ErrorReason): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof A2AError && error.reason === from) throw new A2AError(to, error.message);
    throw error;
  });
}

/** The events of a stream, each replaced by some. */
export async function* mapEvents(
  events: AsyncIterable<StreamEvent>,
  map: (event: StreamEvent, index: number) => readonly StreamEvent[] | 'stop',
): AsyncGenerator<StreamEvent, void, undefined> {
  let index = 0;
  for await (const event of events) {
    const others = map(event, index++);
    if (others === 'stop') return;
    yield* others;
  }
}

/** True for the event that ends a task. */
export const endsTask = (event: StreamEvent): boolean =>
  event.kind === 'status' && isTerminal(event.status.state);

/** A stream that is refused. */
export async function* rejectedStream(
  reason: 'UNSUPPORTED_OPERATION',
): AsyncGenerator<StreamEvent, void, undefined> {
  yield* [];
  throw new A2AError(reason);
}

/** Cancels the task when its reader leaves before the end. */
export async function* cancelOnAbort(
  agent: Agent,
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent, void, undefined> {
  let id: string | undefined;
  let isOver = false;
  try {
    for await (const event of events) {
      if (event.kind === 'task') id = event.task.id;
      isOver ||= endsTask(event);
      yield event;
    }
  } finally {
    if (!isOver && id !== undefined) await agent.cancelTask({ id }).catch(() => {});
  }
}
