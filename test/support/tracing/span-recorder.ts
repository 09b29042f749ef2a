import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeEach, expect } from 'vitest';

/** Registers an OpenTelemetry SDK that keeps the spans of a test file in memory. Call it before anything else. */
export function recordSpans(sampler?: Sampler): SpanRecorder {
  const recorder = new SpanRecorder(sampler);
  beforeEach(() => recorder.exporter.reset());
  afterAll(async () => {
    await recorder.provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  });
  return recorder;
}

/** Spans that have ended. */
class SpanRecorder {
  readonly exporter = new InMemorySpanExporter();
  readonly provider: NodeTracerProvider;

  constructor(sampler: Sampler | undefined) {
    const spanProcessors = [new SimpleSpanProcessor(this.exporter)];
    this.provider = new NodeTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
    this.provider.register();
  }

  get spans(): ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Waits for a number of spans, named like `client SendMessage`. */
  async named(name: string, count = 1): Promise<ReadableSpan[]> {
    const found = () => this.spans.filter((span) => nameOf(span) === name);
    await expect.poll(() => found().length, { timeout: 30_000, message: name }).toBe(count);
    return found();
  }

  async one(name: string): Promise<ReadableSpan> {
    return (await this.named(name))[0] as ReadableSpan;
  }

  /** Runs work in a root span. @returns its trace id and the result. */
  async inRoot<T>(work: () => Promise<T>): Promise<{ traceId: string; result: T }> {
    return trace.getTracer('test').startActiveSpan('root', async (span) => {
      try {
        return { traceId: span.spanContext().traceId, result: await work() };
      } finally {
        span.end();
      }
    });
  }

  /** Returns the names of a span and its ancestors, from the root. */
  pathOf(span: ReadableSpan): string[] {
    const parentId = span.parentSpanContext?.spanId;
    const parent = this.spans.find((each) => each.spanContext().spanId === parentId);
    if (parentId !== undefined && !parent) return ['(not recorded)', nameOf(span)];
    return parent ? [...this.pathOf(parent), nameOf(span)] : [nameOf(span)];
  }
}

/** Returns kind and name of a span. */
function nameOf({ kind, name }: ReadableSpan): string {
  return kind === SpanKind.INTERNAL ? name : `${SpanKind[kind].toLowerCase()} ${name}`;
}
