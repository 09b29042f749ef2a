import type { Agent } from '../../protocol/agent.ts';
import { A2AError, type Reason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';

/** An agent with some operations done otherwise. */
export function wrap(agent: Agent, others: Partial<Agent>): Agent {
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
export function otherwise<T>(work: Promise<T>, from: Reason, to: Reason): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof A2AError && error.reason === from) throw new A2AError(to, error.message);
    throw error;
  });
}

/** The events of a stream, each replaced by some. */
export async function* mapped(
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
