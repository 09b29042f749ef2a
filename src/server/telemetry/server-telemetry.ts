import { Metrics } from '../../metrics/metrics.ts';
import type { LogSink } from '../../primitives/log.ts';
import { LazyTracing } from '../../tracing/tracing.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { RequestTelemetry } from './request-telemetry.ts';

/** Looks at all requests, for metrics, traces and logs. */
export class ServerTelemetry {
  readonly metrics: Metrics | undefined;
  readonly tracing: LazyTracing;
  readonly #log: LogSink | undefined;

  constructor(metrics: Metrics | undefined, tracing: LazyTracing, log: LogSink | undefined) {
    this.metrics = metrics;
    this.tracing = tracing;
    this.#log = log;
  }

  begin(exchange: HttpServerRequest): RequestTelemetry {
    return new RequestTelemetry(this, exchange);
  }

  /** A request is over. */
  recordRequest(
    visit: RequestTelemetry,
    status: number,
    milliseconds: number,
    events: number | undefined,
  ): void {
    const { operation, version, transport, reason, taskId } = visit;
    if (this.metrics) {
      this.metrics.requests.of(operation, version, transport, reason ?? 'OK').add();
      this.metrics.duration.of(operation, transport).observe(milliseconds / 1_000);
    }
    if (!this.#log) return;
    const { method, path, client } = visit;
    const known = { operation, version: version || undefined, transport: transport || undefined };
    const duration = Math.round(milliseconds * 1_000) / 1_000;
    try {
      this.#log({
        level: status >= 500 ? 'error' : 'info',
        message: 'request',
        taskId,
        fields: { method, path, ...known, status, outcome: reason ?? 'OK', duration, events, client },
      });
    } catch {
      // Whoever listens must not be able to keep the caller from its answer.
    }
  }
}

/** The metrics that a server was told to keep, if any. */
function metricsOf({ metrics }: ServerOptions): Metrics | undefined {
  if (metrics === undefined || metrics === false) return undefined;
  if (metrics === true) return new Metrics();
  return metrics.metrics ?? new Metrics();
}

/** Makes what watches a server. @returns undefined when nobody wants to see anything. */
export function createTelemetry(options: ServerOptions): ServerTelemetry | undefined {
  const tracing = new LazyTracing(options.tracing);
  const metrics = metricsOf(options);
  const isTraced = tracing.pending !== undefined || tracing.current !== undefined;
  if (!metrics && !options.log && !isTraced) return undefined;
  return new ServerTelemetry(metrics, tracing, options.log);
}
