/**
 * Traces across agents, by OpenTelemetry. Nothing is loaded before somebody wants traces, and nothing is done then
 * unless an SDK is there to take them.
 *
 * @module
 */
import { A2AError } from '../protocol/errors.ts';

/** What a span may say of itself. */
export type Attributes = { readonly [name: string]: string | number | boolean | undefined };

/** Headers by name, as they come in. */
export type Carrier = { readonly [name: string]: string | readonly string[] | undefined };

/** One step on the way of a request. */
export interface Span {
  set(attributes: Attributes): void;
  /** Does something as a part of this step, so that further steps and requests begin within it. */
  run<T>(work: () => T): T;
  /** Ends it; a reason says why it failed. */
  end(reason?: string): void;
}

/** Where a step comes from. */
export interface SpanOptions {
  kind: 'server' | 'client' | 'internal';
  /** The headers that the caller sent; without them the step belongs to whatever is going on. */
  from?: Carrier;
  attributes?: Attributes;
}

/** Makes spans and carries them from hop to hop. */
export interface Tracing {
  start(name: string, options: SpanOptions): Span;
  /** Gives the headers with those that name the present step, for whoever is called next. */
  inject(headers: Readonly<Record<string, string>>): Record<string, string>;
}

/** True when a program has set OpenTelemetry up, which is told without loading it. */
function hasProvider(): boolean {
  const api = (globalThis as { [key: symbol]: unknown })[Symbol.for('opentelemetry.js.api.1')];
  return typeof api === 'object' && api !== null && 'trace' in api;
}

let loading: Promise<Tracing> | undefined;

/**
 * Gives traces, if they are wanted: when the option says so, and without an option when OpenTelemetry is set up.
 *
 * @throws {@link A2AError} `UNAVAILABLE` when they are asked for and `@opentelemetry/api` is not installed.
 */
export function openTracing(option: boolean | undefined): Promise<Tracing | undefined> | undefined {
  if (option === false || (option === undefined && !hasProvider())) return undefined;
  loading ??= import('./otel.ts').then(({ loadTracing }) => loadTracing());
  return loading.catch((cause: unknown) => {
    loading = undefined;
    if (option === undefined) return undefined;
    throw new A2AError('UNAVAILABLE', 'There are no traces without @opentelemetry/api', {
      cause,
      hint: 'Install it: npm install @opentelemetry/api',
    });
  });
}

/** Traces that may still be loading; what happens meanwhile is not traced. */
export class LazyTracing {
  /** Undefined while there are none. */
  current: Tracing | undefined = undefined;
  /** Resolves when it is clear whether there are some; undefined when that is clear already. */
  pending: Promise<void> | undefined;

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

  /** Does something in a span if there are traces, and simply does it if not. */
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

/** Gives headers with those that name the present step, for whoever sends requests of its own. */
export async function injectTraceHeaders(
  headers: Readonly<Record<string, string>>,
  option?: boolean,
): Promise<Readonly<Record<string, string>>> {
  const tracing = await openTracing(option);
  return tracing ? tracing.inject(headers) : headers;
}
