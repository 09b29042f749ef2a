import type { RequestOf, ResultOf, Unary } from '../../dialects/dialect.ts';
import type { Call } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
import type { Binding, Endpoint, Frame, Opening, Source, Streaming } from './transport-binding.ts';

/** Puts each operation of a binding into a span, where anybody wants traces. */
export function traced(binding: Binding, tracing: LazyTracing): Binding {
  return tracing.current || tracing.pending ? new TracedBinding(binding, tracing) : binding;
}

class TracedBinding implements Binding {
  readonly endpoint: Endpoint;
  readonly #inner: Binding;
  readonly #tracing: LazyTracing;

  constructor(inner: Binding, tracing: LazyTracing) {
    this.endpoint = inner.endpoint;
    this.#inner = inner;
    this.#tracing = tracing;
  }

  async unary<O extends Unary>(operation: O, request: RequestOf[O], call: Call): Promise<ResultOf[O]> {
    const span = await this.#start(operation, request);
    return ending(
      span,
      () => this.#inner.unary(operation, request, call),
      (result) => {
        span?.set({ 'a2a.task.id': idOf(result) });
        span?.end();
      },
    );
  }

  /** The span ends with the stream. */
  async open<O extends Streaming>(
    operation: O,
    request: RequestOf[O],
    call: Call,
    opening: Opening,
  ): Promise<Source> {
    const span = await this.#start(operation, request);
    const source = await ending(span, () => this.#inner.open(operation, request, call, opening));
    return span ? watched(source, span) : source;
  }

  async #start(operation: string, request: unknown): Promise<Span | undefined> {
    if (this.#tracing.pending) await this.#tracing.pending;
    const { dialect, transport, url } = this.endpoint;
    return this.#tracing.current?.start(`a2a.client/${operation}`, {
      kind: 'client',
      attributes: {
        'a2a.operation': operation,
        'a2a.version': dialect.version,
        'a2a.binding': transport,
        'a2a.task.id': idOf(request),
        'server.address': new URL(url).host,
      },
    });
  }
}

async function ending<T>(
  span: Span | undefined,
  work: () => Promise<T>,
  done?: (result: T) => void,
): Promise<T> {
  if (!span) return work();
  try {
    const result = await span.within(work);
    done?.(result);
    return result;
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  }
}

async function* watched(source: Source, span: Span): AsyncGenerator<readonly Frame[]> {
  try {
    for await (const frames of source) {
      for (const { error } of frames) if (error) span.end(error.reason);
      yield frames;
    }
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  } finally {
    span.end();
  }
}

/** The id of the task that a request or an answer is about, if it names one. */
function idOf(about: unknown): string | undefined {
  if (typeof about !== 'object' || about === null) return undefined;
  const { id, taskId, message } = about as { id?: string; taskId?: string; message?: { taskId?: string } };
  return taskId ?? message?.taskId ?? id;
}
