import type { RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import { type CallContext, type Operation, operationNames } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { eventAttributes, requestAttributes, resultAttributes } from '../../tracing/a2a-attributes.ts';
import { serverAttributes } from '../../tracing/server-attributes.ts';
import type { LazyTracing, Span } from '../../tracing/tracing.ts';
import type {
  TransportBinding,
  Endpoint,
  StreamFrame,
  StreamOpenOptions,
  FrameStream,
  StreamingOperation,
} from './transport-binding.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Wraps each operation of a binding in a tracing span. Returns the binding unchanged if tracing is disabled. */
export function traceBinding(
  binding: TransportBinding,
  tracing: LazyTracing,
  cardUrl: string | undefined,
): TransportBinding {
  return tracing.isEnabled ? new TracedBinding(binding, tracing, cardUrl) : binding;
}

class TracedBinding implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #inner: TransportBinding;
  readonly #tracing: LazyTracing;
  readonly #cardUrl: string | undefined;

  constructor(inner: TransportBinding, tracing: LazyTracing, cardUrl: string | undefined) {
    this.endpoint = inner.endpoint;
    this.#cardUrl = cardUrl === undefined ? undefined : withoutSecrets(cardUrl);
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
        span?.set(resultAttributes(result));
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

  async #start(operation: Operation, request: unknown): Promise<Span | undefined> {
    if (this.#tracing.pending) await this.#tracing.pending;
    const { dialect, transport, url, tenant, card } = this.endpoint;
    const { version } = dialect;
    return this.#tracing.current?.start(operationNames[operation], {
      kind: 'client',
      attributes: {
        ...requestAttributes(operation, request, { version, binding: transport, tenant }),
        'gen_ai.agent.name': card?.name,
        'gen_ai.agent.version': card?.version,
        'a2a.agent.card.url': this.#cardUrl,
        ...serverAttributes(url),
      },
    });
  }
}

/** Returns a URL without user, password, query and fragment. */
function withoutSecrets(url: string): string | undefined {
  const parsed = parseUrl(url);
  return parsed && `${parsed.origin}${parsed.pathname}`;
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
      for (const { events, error } of frames) {
        for (const event of events) if (event.kind !== 'artifact') span.set(eventAttributes(event));
        if (error) span.end(error.reason);
      }
      yield frames;
    }
  } catch (error) {
    span.end(A2AError.from(error).reason);
    throw error;
  } finally {
    span.end();
  }
}
