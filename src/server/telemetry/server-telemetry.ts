import { type Operation, operationNames } from '../../protocol/agent.ts';
import { Metrics } from '../../metrics/metrics.ts';
import { type LogSink, quietLogSink } from '../../primitives/log.ts';
import { LazyTracing } from '../../tracing/tracing.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { RequestTelemetry } from './request-telemetry.ts';

/** Records metrics, traces and request logs of a server. */
export class ServerTelemetry {
  readonly metrics: Metrics | undefined;
  readonly tracing: LazyTracing;
  readonly #log: LogSink | undefined;

  constructor(metrics: Metrics | undefined, tracing: LazyTracing, log: LogSink | undefined) {
    this.metrics = metrics;
    this.tracing = tracing;
    this.#log = log && quietLogSink(log);
  }

  start(request: HttpServerRequest): RequestTelemetry {
    return new RequestTelemetry(this, request);
  }

  recordRequest(
    request: RequestTelemetry,
    status: number,
    milliseconds: number,
    events: number | undefined,
  ): void {
    const { operation, version, transport, reason, taskId } = request;
    if (this.metrics) {
      this.metrics.requests.of(operation, version, transport, reason ?? 'OK').add();
      const method = Object.hasOwn(operationNames, operation) ? operationNames[operation as Operation] : '';
      this.metrics.duration.of(method, version, transport, reason ?? '').observe(milliseconds / 1_000);
    }
    if (!this.#log) return;
    const { method, path, client } = request;
    const optionalFields = { operation, version: version || undefined, transport: transport || undefined };
    const duration = Math.round(milliseconds * 1_000) / 1_000;
    this.#log({
      level: status >= 500 ? 'error' : 'info',
      message: 'request',
      taskId,
      fields: {
        method,
        path,
        ...optionalFields,
        status,
        outcome: reason ?? 'OK',
        duration,
        events,
        client,
        limit: request.limit,
      },
    });
  }
}

/** Returns the metrics of the options; undefined if disabled. */
function resolveMetrics({ metrics }: ServerOptions): Metrics | undefined {
  if (metrics === undefined || metrics === false) return undefined;
  if (metrics === true) return new Metrics();
  return metrics.metrics ?? new Metrics();
}

/** Creates the telemetry of a server. @returns undefined if metrics, logs and traces are disabled. */
export function createTelemetry(options: ServerOptions): ServerTelemetry | undefined {
  const tracing = new LazyTracing(options.tracing);
  const metrics = resolveMetrics(options);
  const isTraced = tracing.pending !== undefined || tracing.current !== undefined;
  if (!metrics && !options.log && !isTraced) return undefined;
  return new ServerTelemetry(metrics, tracing, options.log);
}
