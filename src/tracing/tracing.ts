/**
 * Distributed tracing with OpenTelemetry. The API is loaded only if tracing is enabled, and spans are no-ops without an
 * SDK.
 *
 * @module
 */
import { A2AError } from '../protocol/errors.ts';
import type { TraceContext } from '../protocol/task.ts';

/** Value of a span attribute. Long texts and lists are shortened. */
export type AttributeValue = string | number | boolean | readonly string[];

/** Span attributes; undefined ones are omitted. */
export type Attributes = { readonly [name: string]: AttributeValue | undefined };

/** Request headers by name. */
export type Carrier = { readonly [name: string]: string | readonly string[] | undefined };

/** A traced operation. */
export interface Span {
  set(attributes: Attributes): void;
  addEvent(name: string, attributes?: Attributes): void;
  /** Adds a link to the active span, if it is another one. */
  linkActive(): void;
  /** Runs work with this span as the active span. */
  run<T>(work: () => T): T;
  /** Ends the span; a reason marks it as failed. Further calls are ignored. */
  end(reason?: string): void;
}

/** Options of a new span. */
export interface SpanOptions {
  kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  /** Request headers with the remote parent. @defaultValue the active span is the parent */
  from?: Carrier | undefined;
  /** Ignores the active span: without a parent in `from`, the span starts a trace. */
  root?: boolean;
  /** Trace contexts that the span links to. */
  links?: readonly Carrier[];
  attributes?: Attributes;
}

/** Creates spans and propagates them in headers. */
export interface Tracing {
  start(name: string, options: SpanOptions): Span;
  /** Returns the headers with the trace headers of the active span. */
  inject(headers: Readonly<Record<string, string>>): Record<string, string>;
  /** Returns `traceparent` and `tracestate` of the active span, to store them. */
  activeContext(): TraceContext | undefined;
  /** Runs work with a stored trace context as the active one. */
  runFrom<T>(carrier: Carrier, work: () => T): T;
  /** Marks the active span as failed. */
  failActive(reason: string): void;
}

/** Returns true if OpenTelemetry is set up, without loading it. */
export function hasProvider(): boolean {
  const api = (globalThis as { [key: symbol]: unknown })[Symbol.for('opentelemetry.js.api.1')];
  return typeof api === 'object' && api !== null && 'trace' in api;
}

let loading: Promise<Tracing> | undefined;

/**
 * Loads tracing if the option is true, or if it is undefined and OpenTelemetry is set up.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if the option is true and `@opentelemetry/api` is not installed
 */
export function openTracing(option: boolean | undefined): Promise<Tracing | undefined> | undefined {
  if (option === false || (option === undefined && !hasProvider())) return undefined;
  loading ??= import('./otel.ts').then(({ loadTracing }) => loadTracing());
  return loading.catch((error: unknown) => {
    loading = undefined;
    if (option === undefined) return undefined;
    throw error;
  });
}

/** Tracing that may still be loading; operations until then are not traced. */
export class LazyTracing {
  /** Undefined while loading and if tracing is disabled. */
  current: Tracing | undefined = undefined;
  /** Resolves when loading has finished; undefined afterwards. */
  pending: Promise<void> | undefined;

  /** False if tracing is disabled for good. */
  get isEnabled(): boolean {
    return this.current !== undefined || this.pending !== undefined;
  }

  constructor(option: boolean | undefined) {
    this.pending = openTracing(option)?.then(
      (tracing) => {
        this.current = tracing;
        this.pending = undefined;
      },
      () => {
        this.pending = undefined;
      },
    );
  }

  /** Runs work in a span if tracing is enabled. */
  async traced<T>(
    name: string,
    options: SpanOptions,
    work: (span: Span | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.pending) await this.pending;
    const span = this.current?.start(name, options);
    if (!span) return work(undefined);
    try {
      const result = await span.run(() => work(span));
      span.end();
      return result;
    } catch (error) {
      span.end(A2AError.from(error).reason);
      throw error;
    }
  }
}
