import { A2AError } from '../../protocol/errors.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import type { AgentOutput, AgentResult } from '../agent-output.ts';
import { toIterator } from '../agent-output.ts';

/** Wraps a process function in a tracing span. Returns it unchanged if tracing is disabled. */
export function traceProcess(process: ProcessFunction, tracing: LazyTracing): ProcessFunction {
  if (!tracing.current && !tracing.pending) return process;
  return (context) => {
    const span = tracing.current?.start('a2a.engine/run', {
      kind: 'internal',
      attributes: { 'a2a.task.id': context.taskId, 'a2a.context.id': context.contextId },
    });
    if (!span) return process(context);
    try {
      const output = span.run(() => process(context));
      const iterator = toIterator(output);
      if (iterator) return { [Symbol.asyncIterator]: () => traceIterator(span, iterator) };
      return traceResult(span, Promise.resolve(output as Promise<AgentResult> | AgentResult));
    } catch (error) {
      span.end(A2AError.from(error).reason);
      throw error;
    }
  };
}

async function traceResult<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  }
}

/** A generator runs in the async context of each `next()` call, so every step is run within the span. */
function traceIterator(
  span: Span,
  inner: AsyncIterator<AgentOutput> | Iterator<AgentOutput>,
): AsyncIterator<AgentOutput> {
  const step = async (
    advance: () => Promise<IteratorResult<AgentOutput>> | IteratorResult<AgentOutput>,
  ): Promise<IteratorResult<AgentOutput>> => {
    try {
      const result = await span.run(advance);
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
