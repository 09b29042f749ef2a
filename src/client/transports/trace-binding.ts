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

/** Wraps each operation of a binding in a tracing span. Returns the binding unchanged if tracing is disabled. */
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
    return runInSpan(
      span,
      () => this.#inner.unary(operation, request, call),
      (result) => {
        span?.set({ 'a2a.task.id': findTaskId(result) });
        span?.end();
      },
    );
  }

  /** Opens a stream. The span ends with the stream. */
  async open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    options: StreamOpenOptions,
  ): Promise<FrameStream> {
    const span = await this.#start(operation, request);
    const frames = await runInSpan(span, () => this.#inner.open(operation, request, call, options));
    return span ? endWithStream(frames, span) : frames;
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
        'a2a.task.id': findTaskId(request),
        'server.address': new URL(url).host,
      },
    });
  }
}

async function runInSpan<T>(
  span: Span | undefined,
  run: () => Promise<T>,
  onResult?: (result: T) => void,
): Promise<T> {
  if (!span) return run();
  try {
    const result = await span.run(run);
    onResult?.(result);
    return result;
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  }
}

async function* endWithStream(source: FrameStream, span: Span): AsyncGenerator<readonly StreamFrame[]> {
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

/** Returns the task id of a request or result, if it has one. */
function findTaskId(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, taskId, message } = value as { id?: string; taskId?: string; message?: { taskId?: string } };
  return taskId ?? message?.taskId ?? id;
}
