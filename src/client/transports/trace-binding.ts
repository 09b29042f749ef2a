import type { RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
import type {
  TransportBinding,
  Endpoint,
  StreamFrame,
  StreamOpenOptions,
  FrameStream,
  StreamingOperation,
} from './transport-binding.ts';

/** Puts each operation of a binding into a span, where anybody wants traces. */
export function traceBinding(binding: TransportBinding, tracing: LazyTracing): TransportBinding {
  return tracing.current || tracing.pending ? new TracedBinding(binding, tracing) : binding;
}

class TracedBinding implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #inner: TransportBinding;
  readonly #tracing: LazyTracing;

  constructor(inner: TransportBinding, tracing: LazyTracing) {
    this.endpoint = inner.endpoint;
    this.#inner = inner;
    this.#tracing = tracing;
  }

  async unary<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
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
  async open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    opening: StreamOpenOptions,
  ): Promise<FrameStream> {
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
        'a2a.transport': transport,
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
    const result = await span.run(work);
    done?.(result);
    return result;
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  }
}

async function* watched(source: FrameStream, span: Span): AsyncGenerator<readonly StreamFrame[]> {
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
