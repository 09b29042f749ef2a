import { A2AError } from '../../protocol/errors.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import type { AgentOutput, AgentResult } from '../agent-output.ts';
import { toIterator } from './task-run.ts';

/** Gives the work of an agent with a span around each go of it, or as it is where nobody wants traces. */
export function traceProcess(process: ProcessFunction, tracing: LazyTracing): ProcessFunction {
  if (!tracing.current && !tracing.pending) return process;
  return (context) => {
    const span = tracing.current?.start('a2a.engine/run', {
      kind: 'internal',
      attributes: { 'a2a.task.id': context.taskId, 'a2a.context.id': context.contextId },
    });
    if (!span) return process(context);
    try {
      const given = span.run(() => process(context));
      const iterator = toIterator(given);
      if (iterator) return { [Symbol.asyncIterator]: () => within(span, iterator) };
      return ended(span, Promise.resolve(given as Promise<AgentResult> | AgentResult));
    } catch (error) {
      span.end(A2AError.from(error).reason);
      throw error;
    }
  };
}

async function ended<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  }
}

/** A generator runs in the surroundings of whoever asks for its next value, so each step is put into the span. */
function within(
  span: Span,
  inner: AsyncIterator<AgentOutput> | Iterator<AgentOutput>,
): AsyncIterator<AgentOutput> {
  const step = async (
    take: () => Promise<IteratorResult<AgentOutput>> | IteratorResult<AgentOutput>,
  ): Promise<IteratorResult<AgentOutput>> => {
    try {
      const result = await span.run(take);
      if (result.done) span.end();
      return result;
    } catch (error) {
      span.end(A2AError.from(error).reason);
      throw error;
    }
  };
  return {
    next: () => step(() => inner.next()),
    return: (value?: unknown) => step(() => inner.return?.(value) ?? { done: true, value }),
  };
}
